//! Why a chunk does not unpack.

use orthant::memory::Refused;

/// Why a chunk does not unpack.
#[derive(Debug)]
pub(super) enum UnpackError {
    /// There is no memory for what comes out.
    Memory(Refused),
    /// The bytes are not what a codec writes.
    Damaged(String),
}

impl From<Refused> for UnpackError {
    fn from(refused: Refused) -> Self {
        Self::Memory(refused)
    }
}

impl From<String> for UnpackError {
    fn from(reason: String) -> Self {
        Self::Damaged(reason)
    }
}

impl From<&str> for UnpackError {
    fn from(reason: &str) -> Self {
        Self::Damaged(reason.to_owned())
    }
}
