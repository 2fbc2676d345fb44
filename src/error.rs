//! One error at the surface of the crate, one variant per way of failing, each with its exit code.

use std::path::PathBuf;

use crate::cuda::CudaError;
use crate::curve::CurveError;
use crate::model::ModelError;
use crate::plan::PlanError;
use crate::registry::UnknownName;

/// What went wrong. The message says what, which value, and what would be allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A plan that cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A curve that cannot serve the request.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// A model that has no value for what it was asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A name that no registry holds.
    #[error(transparent)]
    UnknownName(#[from] UnknownName),
    /// Any other input that cannot be used; the text names the flag, its value and what is allowed.
    #[error("{0}")]
    Input(String),
    /// A file that cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An output that exists already.
    #[error("{path} exists already; --force overwrites it", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// More memory than is allowed.
    #[error("{what} would take {need}, more than the limit of {limit}; a smaller -n, --keep regions or counts, or a larger --mem-limit may help",
        need = Bytes(*need), limit = Bytes(u128::from(*limit)))]
    Memory {
        /// What would be stored.
        what: &'static str,
        /// Bytes needed.
        need: u128,
        /// Bytes allowed.
        limit: u64,
    },
    /// More memory than the GPU has free.
    #[error("{what} would take {need} on the GPU, which has {free} free; a smaller -n, --keep regions or counts, or --backend cpu may help",
        need = Bytes(*need), free = Bytes(u128::from(*free)))]
    DeviceMemory {
        /// What would be stored.
        what: &'static str,
        /// Bytes needed.
        need: u128,
        /// Bytes that are free.
        free: u64,
    },
    /// A backend that is not here.
    #[error("{0}")]
    Unavailable(String),
    /// CUDA is not here, or failed.
    #[error("--backend cuda: {0}")]
    Cuda(#[from] CudaError),
    /// The run was cancelled; holds the signal number, or 0 if the caller cancelled it.
    #[error("interrupted; nothing was written")]
    Interrupted(usize),
    /// A sweep was cancelled between two rows, or dropped the one it was at.
    #[error("interrupted after {rows} rows; {path} is whole, and --resume goes on", path = path.display())]
    Suspended {
        /// The signal number.
        signal: usize,
        /// Rows written.
        rows: usize,
        /// Where they are.
        path: PathBuf,
    },
    /// A check found a difference.
    #[error("{0}")]
    Difference(String),
    /// The run did not account for every cell: a bug in the engine or a workload that changed its mind.
    #[error("the run accounted for {seen} of {total} cells")]
    Incomplete {
        /// Cells filled, evaluated or counted in leaves.
        seen: u128,
        /// Cells of the domain.
        total: u128,
    },
    /// A worker pool that could not be started, or another failure of the system.
    #[error("{0}")]
    System(String),
}

impl Error {
    /// The process exit code that belongs to this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Incomplete { .. } | Self::System(_) => 1,
            Self::Plan(_)
            | Self::Curve(_)
            | Self::Model(_)
            | Self::UnknownName(_)
            | Self::Input(_)
            | Self::Exists { .. } => 2,
            // Unwritable outputs are bad input when found before the work; a disk that fills up is a failed run.
            Self::File { source, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::WriteZero => 1,
                _ => 2,
            },
            Self::Difference(_) => 3,
            Self::Unavailable(_) => 4,
            Self::Cuda(error) if error.is_absence() => 4,
            Self::Cuda(error) if error.is_bad_source() => 2,
            Self::Cuda(_) => 1,
            Self::Memory { .. } | Self::DeviceMemory { .. } => 5,
            Self::Interrupted(signal) | Self::Suspended { signal, .. } => 128 + *signal as u8,
        }
    }
}

/// A number of bytes as people read it, in binary units.
pub struct Bytes(pub u128);

impl std::fmt::Display for Bytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const UNITS: [&str; 9] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
        let mut value = self.0 as f64;
        let mut unit = 0;
        while value >= 1024.0 && unit + 1 < UNITS.len() {
            value /= 1024.0;
            unit += 1;
        }
        if unit == 0 { write!(f, "{} B", self.0) } else { write!(f, "{value:.1} {}", UNITS[unit]) }
    }
}
