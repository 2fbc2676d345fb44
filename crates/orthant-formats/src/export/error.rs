//! What keeps cells from becoming a file.

use std::io;
use std::path::PathBuf;

use orthant::Bytes;
use orthant::CellType;
use orthant::memory::Refused;

/// What keeps cells from becoming a file: the format, the system, or the source of the cells.
///
/// ```
/// use orthant::CellType;
/// use orthant_formats::export::{ExportError, vti};
///
/// assert!(matches!(vti::check([8; 4]), Err(ExportError::Dimensions { k: 4, .. })));
/// assert_eq!(vti::check([8; 3]).map_err(|error| error.to_string()), Ok(()));
/// ```
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A format that does not have as many dimensions.
    #[error("{format}: {k} dimensions; it holds {allowed}")]
    Dimensions {
        /// The format.
        format: &'static str,
        /// Dimensions of the domain.
        k: usize,
        /// What there can be.
        allowed: &'static str,
    },
    /// A format that does not count as far.
    #[error("{format}: {size} cells on axis {axis}; it counts to {most}")]
    Extent {
        /// The format.
        format: &'static str,
        /// The axis.
        axis: usize,
        /// Cells of the axis.
        size: u32,
        /// The most that there can be.
        most: u32,
    },
    /// A format that has no counterpart of a type.
    #[error("{format}: cells of type {kind}; it holds {allowed}")]
    Kind {
        /// The format.
        format: &'static str,
        /// The type of the cells.
        kind: CellType,
        /// What there can be.
        allowed: &'static str,
    },
    /// A format that knows places in single precision.
    #[error(
        "{format}: cells of length {spacing:e} from {origin:e} on along axis {axis}; it has both in single precision, too"
    )]
    Spacing {
        /// The format.
        format: &'static str,
        /// The axis.
        axis: usize,
        /// The length of a cell.
        spacing: f64,
        /// Where the first begins.
        origin: f64,
    },
    /// A format that this build has not.
    #[error("{format}: this build is without the feature {feature}")]
    Feature {
        /// The format.
        format: &'static str,
        /// What to build it with.
        feature: &'static str,
    },
    /// Cells could not be read.
    #[error("the source: {0}")]
    Read(io::Error),
    /// The file could not be written.
    #[error(transparent)]
    Write(io::Error),
    /// A file of several could not be written.
    #[error("{}: {error}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// There is no memory.
    #[error("there is no memory for {}", Bytes(*bytes))]
    Memory {
        /// How much was asked for.
        bytes: u128,
    },
}

/// What those who write files pass on.
impl From<ExportError> for io::Error {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Read(error) | ExportError::Write(error) => error,
            memory @ ExportError::Memory { .. } => Self::new(io::ErrorKind::OutOfMemory, memory),
            other => Self::other(other),
        }
    }
}

impl From<Refused> for ExportError {
    fn from(refused: Refused) -> Self {
        Self::Memory { bytes: refused.bytes }
    }
}
