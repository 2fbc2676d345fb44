//! Why a chunk does not unpack.

use crate::memory::Refused;

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

impl<T: Into<String>> From<T> for UnpackError {
    fn from(reason: T) -> Self {
        Self::Damaged(reason.into())
    }
}
