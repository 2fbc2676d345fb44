//! What the program answers bad luck and bad input with: the library's errors in terms of options, and its own.

use std::path::{Path, PathBuf};

use orthant::backend::{CudaTuning, Kept, Tuning, Unsupported};
use orthant::choice::ChoiceError;
use orthant::cuda::CudaError;
use orthant::curve::CurveError;
use orthant::field::{FieldError, FormulaError};
use orthant::geometry::DomainError;
use orthant::mesh::MeshError;
use orthant::result::{MaterialiseError, MemoryError, Stored};
use orthant::tree::{Fault, TreeError, TreeFileError, ZarrError};
use orthant::{Computed, PlanError, UnknownName};
use orthant_formats::export::ExportError;
use orthant_formats::input::{InputError, InputFault};
use orthant_lab::model::ModelError;

use crate::exit::Exit;
use crate::{near, system};

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
    /// A file that holds no formula.
    #[error("--source {path}: {error}", path = path.display())]
    Formula {
        /// The file.
        path: PathBuf,
        /// What is wrong with its text, in several lines.
        error: FormulaError,
    },
    /// A file that cannot be read or written.
    #[error("{path}: {words}{near}", path = path.display(), words = system::words(source), near = near::suggestion(path, source))]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An input that changed, was cut or whose disk failed while it was read.
    #[error("{0}")]
    Reading(InputError),
    /// An output that exists already.
    #[error("{path} exists already; --force overwrites it", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// One that is about more options than its message begins with.
    #[error("{error}")]
    About {
        /// The options that it follows from, by name.
        options: Vec<&'static str>,
        /// What is said.
        error: Box<Error>,
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
    /// Something small, such as a thread, that the system has no memory for.
    #[error("{0}")]
    Memory(String),
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

impl From<TreeError> for Error {
    fn from(error: TreeError) -> Self {
        match error {
            TreeError::Run(error) => Self::Library(error),
            TreeError::Source(error) => source(error),
            TreeError::File(TreeFileError::Io { path, error }) => Self::File { path, source: error },
            TreeError::File(TreeFileError::Array(error)) => array(error),
            TreeError::File(TreeFileError::Exists { path }) => Self::Exists { path },
            TreeError::File(error @ TreeFileError::Left { .. }) => Self::Input(format!("{error}, by --force")),
            TreeError::File(error @ TreeFileError::Header { key: "shard_cells", .. }) => {
                Self::Input(format!("{error}; use a smaller -n, or another -g or -r")).about(&["size", "g", "r"])
            }
            error => Self::Input(error.to_string()),
        }
    }
}

impl From<ExportError> for Error {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Read(error) => source(error),
            ExportError::File { path, error } => Self::File { path, source: error },
            ExportError::Memory { bytes } => {
                MemoryError { what: Stored::Materialised, need: bytes, limit: None }.into()
            }
            error => Self::Input(error.to_string()),
        }
    }
}

/// What keeps an array in chunks from being read.
fn array(error: ZarrError) -> Error {
    match error {
        ZarrError { path, member: None, fault: Fault::Io(source) } => Error::File { path, source },
        ZarrError { path, member: Some(name), fault: Fault::Io(source) } => {
            Error::File { path: format!("{}: {name}", path.display()).into(), source }
        }
        ZarrError { path, fault: fault @ Fault::Memory { .. }, .. } => no_memory(path, fault),
        // Its length was seen before: the disk fails, or somebody cut the file meanwhile.
        ZarrError { fault: Fault::Unread { .. }, .. } => Error::System(error.to_string()),
        error => Error::Input(error.to_string()),
    }
}

/// A file for which there is no memory.
fn no_memory(path: PathBuf, reason: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::File { path, source: std::io::Error::new(std::io::ErrorKind::OutOfMemory, reason) }
}

/// What keeps a file of cells from being read.
impl From<InputError> for Error {
    fn from(InputError { path, wrong }: InputError) -> Self {
        match wrong {
            InputFault::Io(source) | InputFault::Archive(Fault::Io(source)) => Self::File { path, source },
            InputFault::Archive(fault @ Fault::Memory { .. }) => no_memory(path, fault),
            InputFault::InMember { wrong, .. }
                if matches!(*wrong, InputFault::Io(_) | InputFault::Archive(Fault::Memory { .. })) =>
            {
                InputError { path, wrong: *wrong }.into()
            }
            wrong => match (InputError { path, wrong }) {
                error if error.is_of_reading() => Self::Reading(error),
                error => Self::Input(error.to_string()),
            },
        }
    }
}

/// What keeps a source of cells from being read.
fn source(error: std::io::Error) -> Error {
    let error = match error.downcast::<TreeError>() {
        Ok(error) => return error.into(),
        Err(error) => error,
    };
    match error.downcast::<InputError>() {
        Ok(error) => error.into(),
        Err(source) if system::exit(&source) != Exit::Input => Error::File { path: "--input".into(), source },
        Err(error) => Error::Input(format!("--input: {error}")),
    }
}

impl Error {
    /// The signal that interrupted, if that is what happened.
    pub fn signal(&self) -> Option<usize> {
        match self {
            Self::Library(orthant::Error::Interrupted(signal)) | Self::Suspended { signal, .. } => Some(*signal),
            _ => None,
        }
    }

    /// True if an input could be used, and reading it failed.
    pub(crate) fn is_of_reading(&self) -> bool {
        match self {
            Self::Reading(_) => true,
            Self::About { error, .. } => error.is_of_reading(),
            _ => false,
        }
    }

    /// The same, about these options: any of them may be what is to change.
    pub(crate) fn about(self, options: &[&'static str]) -> Self {
        Self::About { options: options.to_vec(), error: self.into() }
    }

    /// The options that it follows from, by name: those that are told, else the one that the message begins with.
    pub(crate) fn options(&self) -> Vec<&str> {
        match self {
            Self::About { options, .. } => options.clone(),
            Self::Library(error) => options(error),
            Self::Input(text) | Self::Unavailable(text) | Self::Difference(text) => {
                let first = text.split([' ', ':']).next().unwrap_or_default();
                first.strip_prefix("--").or(first.strip_prefix('-')).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// The file that it is about.
    pub(crate) fn path(&self) -> Option<&Path> {
        match self {
            Self::File { path, .. } | Self::Exists { path } => Some(path),
            Self::Reading(error) => Some(&error.path),
            _ => None,
        }
    }

    /// True if it has what a compiler says, which is several lines.
    pub(crate) fn has_lines(&self) -> bool {
        match self {
            Self::Library(orthant::Error::Cuda(error)) => error.is_bad_source(),
            Self::Library(orthant::Error::Field(FieldError::Formula(_))) | Self::Formula { .. } => true,
            Self::About { error, .. } => error.has_lines(),
            _ => false,
        }
    }

    /// How the program ends after this error.
    pub fn exit(&self) -> Exit {
        use orthant::Error as Library;
        match self {
            Self::System(_) | Self::Reading(_) => Exit::Failed,
            Self::About { error, .. } => error.exit(),
            Self::Model(_) | Self::Input(_) | Self::Formula { .. } | Self::Exists { .. } => Exit::Input,
            Self::File { source, .. } => system::exit(source),
            Self::Difference(_) => Exit::Difference,
            Self::Unavailable(_) => Exit::Unavailable,
            Self::Memory(_) => Exit::Memory,
            Self::Suspended { signal, .. } => Exit::Signal(*signal as u8),
            Self::Library(error) => match error {
                Library::Incomplete { .. } | Library::System(_) => Exit::Failed,
                Library::Unsupported { .. } => Exit::Unavailable,
                Library::Cuda(error) if error.is_absence() => Exit::Unavailable,
                Library::Cuda(error) if error.is_bad_source() => Exit::Input,
                Library::Cuda(_) => Exit::Failed,
                Library::Memory(_) | Library::DeviceMemory { .. } | Library::Field(FieldError::Memory { .. }) => {
                    Exit::Memory
                }
                Library::Interrupted(signal) => Exit::Signal(*signal as u8),
                _ => Exit::Input,
            },
        }
    }
}

/// Options that no choice is behind.
const WITHOUT_CHOICE: [&str; 11] =
    ["backend", "device", "source", "input", "set", "tolerance", "threshold", "iso", "step", "nan", "nodata"];

/// An error of the library in terms of the command line: the choice that it begins with is an option here, and what may
/// help is said.
fn flagged(error: &orthant::Error) -> String {
    use orthant::Error as Library;
    let text = match error {
        // What is wrong is not the backend but the number.
        Library::Cuda(CudaError::DeviceOrdinal { .. }) => error.to_string().replacen("backend cuda: ", "", 1),
        _ => error.to_string(),
    };
    let groups = [Computed::CHOICES, Kept::CHOICES, Tuning::CHOICES, CudaTuning::CHOICES];
    let mut options = groups.into_iter().flatten().map(|choice| choice.name).chain(WITHOUT_CHOICE);
    let first = text.split([' ', ':']).next().unwrap_or_default();
    let dashes = match (error, options.any(|name| name == first)) {
        (Library::System(_), _) | (_, false) => "",
        _ if first.len() == 1 => "-",
        _ => "--",
    };
    match advice(error) {
        Some(advice) => format!("{dashes}{text}; {advice}"),
        None => format!("{dashes}{text}"),
    }
}

/// The options that an error of the library follows from, by name.
fn options(error: &orthant::Error) -> Vec<&str> {
    use orthant::Error as Library;
    let options: &[&str] = match error {
        Library::Choice(error) => return [error.name].into_iter().chain(error.with.iter().copied()).collect(),
        Library::Domain(DomainError::Dimensions { .. }) | Library::Field(FieldError::Dimension { .. }) => {
            &["dim", "size"]
        }
        Library::Domain(DomainError::EmptyAxis { .. }) => &["size"],
        Library::Domain(_) => &["domain"],
        Library::Plan(error) => match error {
            PlanError::InitialSplit { .. } => &["g", "size"],
            PlanError::RecurrentSplit { .. } | PlanError::NothingSplit => &["r"],
            PlanError::StopSide { .. } => &["B"],
            PlanError::Curve(CurveError::TooManyTrees { .. }) => &["curve", "g"],
            PlanError::Curve(CurveError::CoordOverflow { .. } | CurveError::CodeOverflow { .. }) => {
                &["dim", "size", "g", "r", "B"]
            }
            PlanError::Curve(_) => &["curve", "r"],
            _ => &[],
        },
        Library::Field(FieldError::NoSource) => &["source"],
        Library::Field(FieldError::NoData { .. }) => &["input"],
        Library::Field(FieldError::Mesh { .. }) => &["input", "value"],
        Library::Field(FieldError::MeshSpan { .. }) => &["domain", "size"],
        Library::Field(FieldError::Memory { .. }) => &["size"],
        Library::NotKept(_) => &["keep"],
        Library::Memory(MemoryError { what, limit, .. }) => match (what, limit) {
            (_, None) => &["size", "g", "r", "B", "keep", "cell", "threads"],
            (Stored::Dense | Stored::Materialised, _) => &["size", "keep", "cell", "mem-limit"],
            (Stored::Units, _) => &["sizes"],
            (Stored::Tables | Stored::NextTable | Stored::Outcomes | Stored::Children, _) => {
                &["size", "g", "r", "B", "mem-limit"]
            }
            (Stored::Listed, _) => &["size", "g", "r", "B", "pass", "scheme", "strategy", "mem-limit"],
            _ => &["size", "g", "r", "B", "keep", "cell", "mem-limit"],
        },
        Library::DeviceMemory { .. } => &["size", "g", "r", "B", "keep", "cell", "backend", "device"],
        Library::Unsupported { what, .. } => match what {
            Unsupported::Regions { .. } => &["size", "g", "r", "B", "backend"],
            Unsupported::Terminals { .. } => &["size", "g", "r", "B", "keep", "strategy", "backend"],
            _ => &["backend"],
        },
        Library::Cuda(CudaError::DeviceOrdinal { .. }) => &["device"],
        Library::Cuda(error) if error.is_bad_source() => &["source"],
        Library::Cuda(_) => &["backend"],
        // Of a run, that threads cannot be started.
        Library::System(_) => &["threads"],
        _ => &[],
    };
    options.to_vec()
}

/// What may help.
fn advice(error: &orthant::Error) -> Option<&'static str> {
    use orthant::Error as Library;
    const SMALLER: &str = "use a smaller -g or -r, or a larger -B";
    Some(match error {
        Library::Plan(PlanError::Curve(error)) => match error {
            CurveError::RadixNotPowerOfTwo { .. } => "use another -r, or --curve morton or canonical",
            CurveError::UnequalRadix { .. } => "use --curve morton or canonical",
            CurveError::TooManyTrees { .. } => "use a -g with a larger common power of two, or --curve morton",
            CurveError::CoordOverflow { .. } | CurveError::CodeOverflow { .. } => SMALLER,
            _ => return None,
        },
        // Labels that do not fit: where a field has a dwell, that caps them.
        Library::Choice(error) if error.name == "cell" && error.with.contains(&"dwell") => {
            "use another --cell, or a smaller --dwell where the field has one"
        }
        Library::Field(FieldError::Mesh { error: MeshError::Open { .. }, .. }) => "write --value surface",
        Library::NotKept(_) => "use --keep dense or regions",
        Library::Memory(MemoryError { limit: None, .. }) => {
            "a smaller -n, --keep regions or counts, or fewer --threads may help"
        }
        Library::Memory(MemoryError { what, .. }) => match what {
            Stored::Dense | Stored::DenseAndTables => {
                "a smaller -n, --keep regions or counts, or a larger --mem-limit may help"
            }
            Stored::Materialised => "a smaller -n, no picture but .npy, or a larger --mem-limit may help",
            Stored::Points => "fewer points or entries, or a larger --mem-limit, may help",
            Stored::Units => "a shorter list, or --thin, may help",
            Stored::Listed => "--pass in-place or a larger --mem-limit may help",
            Stored::TablesAndTerminals | Stored::Terminals => {
                "a smaller -n, a larger -B, a larger --mem-limit, or --keep counts without -o may help"
            }
            _ => "a smaller -n, a larger -B, or a larger --mem-limit may help",
        },
        Library::DeviceMemory { .. } => "a smaller -n, keeping less (--keep), or --backend cpu may help",
        Library::Unsupported { what, .. } => match what {
            Unsupported::DeviceOnly => "use --backend cuda",
            Unsupported::Regions { .. } => SMALLER,
            Unsupported::Terminals { .. } => "use --keep counts, or --strategy ask",
            _ => return None,
        },
        Library::Cuda(CudaError::Unusable { .. }) => "see orthant doctor",
        _ => return None,
    })
}
