//! What the program answers bad luck and bad input with: the library's errors in terms of options, and its own.

use std::path::PathBuf;

use orthant::choice::ChoiceError;
use orthant::curve::CurveError;
use orthant::field::FieldError;
use orthant::geometry::DomainError;
use orthant::model::ModelError;
use orthant::result::{MaterialiseError, MemoryError};
use orthant::{PlanError, UnknownName};

/// What went wrong. The message says what, which value, and what would be allowed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library's.
    #[error("{}", flagged(.0))]
    Library(orthant::Error),
    /// A model that has no value for what it was asked.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Any other input that cannot be used; the text names the option, its value and what is allowed.
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
    /// Something that this program or this machine does not have.
    #[error("{0}")]
    Unavailable(String),
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
    /// A failure of the system.
    #[error("{0}")]
    System(String),
}

/// Everything that is an error of the library is one here.
macro_rules! from_library {
    ($($T:ty),+) => { $(
        impl From<$T> for Error {
            fn from(error: $T) -> Self {
                Self::Library(error.into())
            }
        }
    )+ };
}
from_library!(
    orthant::Error,
    ChoiceError,
    CurveError,
    DomainError,
    FieldError,
    MaterialiseError,
    MemoryError,
    PlanError,
    UnknownName
);

impl Error {
    /// The signal that interrupted, if that is what happened.
    pub fn signal(&self) -> Option<usize> {
        match self {
            Self::Library(orthant::Error::Interrupted(signal)) | Self::Suspended { signal, .. } => Some(*signal),
            _ => None,
        }
    }

    /// The process exit code that belongs to this error.
    pub fn exit_code(&self) -> u8 {
        use orthant::Error as Library;
        match self {
            Self::System(_) => 1,
            Self::Model(_) | Self::Input(_) | Self::Exists { .. } => 2,
            // Unwritable outputs are bad input when found before the work; a disk that fills up is a failed run.
            Self::File { source, .. } => match source.kind() {
                std::io::ErrorKind::StorageFull | std::io::ErrorKind::WriteZero => 1,
                _ => 2,
            },
            Self::Difference(_) => 3,
            Self::Unavailable(_) => 4,
            Self::Suspended { signal, .. } => 128 + *signal as u8,
            Self::Library(error) => match error {
                Library::Incomplete { .. } | Library::System(_) => 1,
                Library::Unsupported { .. } => 4,
                Library::Cuda(error) if error.is_absence() => 4,
                Library::Cuda(error) if error.is_bad_source() => 2,
                Library::Cuda(_) => 1,
                Library::Memory(_) | Library::DeviceMemory { .. } => 5,
                Library::Interrupted(signal) => 128 + *signal as u8,
                _ => 2,
            },
        }
    }
}

/// The words with which messages about a choice begin, and the option that sets it.
const OPTIONS: [(&str, &str); 6] = [
    ("backend ", "--backend "),
    ("curve ", "--curve "),
    ("g ", "-g "),
    ("r ", "-r "),
    ("B ", "-B "),
    ("dim ", "--dim "),
];

/// What messages advise, in words and in options.
const ADVICE: [(&str, &str); 9] = [
    ("with cells of type ", "with --cell "),
    ("a smaller g or r, or a larger B", "a smaller -g or -r, or a larger -B"),
    ("use a g with", "use a -g with"),
    ("hilbert: g makes", "hilbert: -g makes"),
    ("hilbert: r ", "hilbert: -r "),
    ("the curve morton", "--curve morton"),
    ("use morton or canonical", "use --curve morton or canonical"),
    ("keep the dense array or counts", "use --keep dense or counts"),
    ("the backend cuda", "--backend cuda"),
];

/// An error of the library in terms of the command line: what it calls by name are options here.
fn flagged(error: &orthant::Error) -> String {
    use orthant::Error as Library;
    let text = ADVICE.iter().fold(error.to_string(), |text, (words, options)| text.replace(words, options));
    match error {
        Library::Choice(ChoiceError { name, .. }) if name.len() > 1 => format!("--{text}"),
        Library::Domain(_) => format!("--{text}"),
        Library::NotKept(_) => format!("--{text}"),
        Library::Memory(_) => {
            format!("{text}; a smaller -n, --keep regions or counts, or a larger --mem-limit may help")
        }
        Library::DeviceMemory { .. } => {
            format!("{text}; a smaller -n, --keep regions or counts, or --backend cpu may help")
        }
        Library::Field(FieldError::NoSource) => {
            "kernel: --source FILE.cuh is needed, the CUDA source of the field".into()
        }
        Library::Choice(_) => format!("-{text}"),
        Library::Unsupported { backend, reason } => match reason.split_once(" are understood by a GPU alone") {
            Some((names, _)) => {
                let names = names.replace(", ", ", --");
                format!("--backend {backend}: --{names}: understood by a GPU alone; leave out, or use --backend cuda")
            }
            None => format!("--{text}"),
        },
        Library::Cuda(orthant::cuda::CudaError::DeviceOrdinal { .. }) => {
            text.replacen("backend cuda: device", "--device", 1)
        }
        _ => match OPTIONS.iter().find_map(|(word, option)| Some((text.strip_prefix(word)?, option))) {
            Some((rest, option)) => format!("{option}{rest}"),
            None => text,
        },
    }
}
