//! What is wrong with a file of cells.

use std::path::PathBuf;
use std::{fmt, io};

use orthant::MAX_DIM;
use orthant::mesh::MeshError;
use orthant::points::PointsError;
use orthant::zarr::Fault;

/// The types that files can have, as `.npy` writes them.
const CELL_TYPES: &str = "b1, i1, u1, i2, u2, i4, u4, i8, u8, f4 and f8, in either order of bytes,";

/// What is wrong with a file of cells, and where: the message names the file and the byte.
///
/// ```
/// use orthant_formats::input::{ArrayFile, InputFault};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-wrong-{}.npy", std::process::id()));
/// std::fs::write(&path, "not an array")?;
/// let error = ArrayFile::npy(&path).unwrap_err();
/// assert_eq!((&error.path, matches!(error.wrong, InputFault::Magic)), (&path, true));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, thiserror::Error)]
#[error("{}: {wrong}", path.display())]
pub struct InputError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it, which the message says: it is no source, so that whoever prints the chain says it once.
    pub wrong: InputFault,
}

/// What is wrong. Offsets count from the beginning of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InputFault {
    /// The system says no.
    #[error(transparent)]
    Io(io::Error),
    /// A name that no format's files have.
    #[error("none of the formats that are known; they are {known}")]
    NoFormat {
        /// What names of files end with.
        known: String,
    },
    /// A folder, a pipe, a device.
    #[error("not a regular file")]
    NoFile,
    /// Another kind of archive, or none.
    #[error("not a .npz file, which is a zip archive and ends with its directory")]
    NoArchive,
    /// An archive that is damaged, or of a kind that NumPy does not write.
    #[error("{0}")]
    Archive(Fault),
    /// A deflated member that is not what was packed.
    #[error(
        "byte {offset}: what is deflated here is damaged, or has not the length or the checksum that the directory says"
    )]
    Deflated {
        /// Where it begins.
        offset: u64,
    },
    /// A member that an archive does not have, or one of several without a name.
    #[error("{}", which_member(wanted.as_deref(), *members, names))]
    Member {
        /// The name that was asked for.
        wanted: Option<String>,
        /// Members that there are.
        members: usize,
        /// The names of the first of them.
        names: Vec<String>,
    },
    /// Something in a member of an archive, where offsets count from the member's beginning.
    #[error("member {name}: {wrong}")]
    InMember {
        /// The member's name.
        name: String,
        /// What is wrong with it.
        wrong: Box<InputFault>,
    },
    /// Another kind of file.
    #[error("byte 0: not a .npy file, which begins with \\x93NUMPY")]
    Magic,
    /// A version that nobody has written yet.
    #[error("byte 6: version {major}.{minor} of .npy; 1.0, 2.0 and 3.0 can be read")]
    Version {
        /// Before the point.
        major: u8,
        /// After it.
        minor: u8,
    },
    /// A header that is longer than the file, or than a header is.
    #[error("byte 8: a header of {length} bytes; at most {most} can be, from the next on")]
    HeaderLength {
        /// What the file says.
        length: u64,
        /// What there is, or what is read.
        most: u64,
    },
    /// A header that ends too soon, or is no dictionary as NumPy writes it.
    #[error("byte {offset}: the header has no {wanted} here")]
    Header {
        /// Where.
        offset: u64,
        /// What should be there.
        wanted: &'static str,
    },
    /// A key that no header has, or one that comes twice.
    #[error(
        "byte {offset}: the header says '{key}', which is not one of descr, fortran_order and shape, or comes twice"
    )]
    Key {
        /// Where.
        offset: u64,
        /// The key.
        key: String,
    },
    /// Cells of another kind.
    #[error("byte {offset}: cells of type '{descr}'; {CELL_TYPES} can be read")]
    Type {
        /// Where the header says so.
        offset: u64,
        /// What it says.
        descr: String,
    },
    /// Too many axes, or none.
    #[error("byte {offset}: {axes} axes; between 1 and {MAX_DIM} can be")]
    Axes {
        /// Where the header says so; 0 of a layout that was given.
        offset: u64,
        /// How many.
        axes: usize,
    },
    /// An axis without cells, or with too many.
    #[error("byte {offset}: {cells} cells on an axis; between 1 and {} can be", u32::MAX)]
    Extent {
        /// Where the header says so; 0 of a layout that was given.
        offset: u64,
        /// How many; the largest number where it is larger.
        cells: u64,
    },
    /// More or fewer cells than there should be.
    #[error("byte {offset}: {have} bytes of cells, and the shape needs {need}")]
    Length {
        /// Where cells begin.
        offset: u64,
        /// Bytes that are there.
        have: u64,
        /// Bytes that there should be; the largest number where they are more.
        need: u128,
    },
    /// A file that somebody wrote to, replaced or removed since it was opened.
    #[error("the file changed while it was read; run again when nobody writes to it")]
    Changed,
    /// A file that became shorter while it was read.
    #[error("byte {byte}: the file ends at byte {length}, since it was cut while it was read")]
    Cut {
        /// The byte that was to be read.
        byte: u64,
        /// Where the file ends by now.
        length: u64,
    },
    /// A byte that the system does not give: of a disk that fails, say.
    #[error("byte {byte}: cannot be read: {error}")]
    Unread {
        /// The byte.
        byte: u64,
        /// What the system says.
        error: io::Error,
    },
    /// Cells in a file outside of the folder that the header is in.
    #[error("{at}: {field} '{}': {} lies outside of the header's folder", value.escape_debug(), file.display())]
    Outside {
        /// Where the header says so.
        at: FilePlace,
        /// The field.
        field: Box<str>,
        /// What it says.
        value: Box<str>,
        /// The file that would be read.
        file: PathBuf,
    },
    /// Something that a header says and that cannot be read.
    #[error("{at}: {field} {value}: {allowed}")]
    Field {
        /// Where it says so.
        at: FilePlace,
        /// What it is about.
        field: Box<str>,
        /// What it says.
        value: Box<str>,
        /// What could be read, or why not.
        allowed: Box<str>,
    },
    /// Something that a header has to say.
    #[error("the header says nothing of {field}")]
    Missing {
        /// What it says nothing of.
        field: &'static str,
    },
    /// A header of text that does not end.
    #[error("a header of more than {most} bytes")]
    LongHeader {
        /// How long headers are that are read.
        most: u64,
    },
    /// Bytes that are packed and cannot be unpacked.
    #[error("byte {offset}: what is packed from here on is damaged, or has not the {need} bytes that the header says")]
    Packed {
        /// Where they begin.
        offset: u64,
        /// Bytes that there should be.
        need: u128,
    },
    /// Another format's.
    #[error("{at}: {what}")]
    Damaged {
        /// Where.
        at: FilePlace,
        /// What is there, or what should be.
        what: String,
    },
    /// Triangles that are no mesh.
    #[error(transparent)]
    Mesh(#[from] MeshError),
    /// Numbers that are no points.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// Anything else.
    #[error("{0}")]
    Other(String),
    /// Regions of a tree, where cells are needed.
    #[error("a tree, and no array of cells")]
    Tree,
    /// An array of another number of dimensions.
    #[error("an array of {axes} axes, where {k} dimensions are asked for")]
    Dimensions {
        /// Axes of the array.
        axes: usize,
        /// Dimensions.
        k: usize,
    },
}

impl From<io::Error> for InputFault {
    fn from(error: io::Error) -> Self {
        match error.downcast::<UnreadAt>() {
            Ok(UnreadAt { byte, error }) => Self::Unread { byte, error },
            Err(error) => Self::Io(error),
        }
    }
}

/// An error of the system while a byte of a file was read, on its way through what unpacks the file.
#[derive(Debug, thiserror::Error)]
#[error("byte {byte}: cannot be read: {error}")]
pub(super) struct UnreadAt {
    pub(super) byte: u64,
    pub(super) error: io::Error,
}

impl From<UnreadAt> for io::Error {
    fn from(unread: UnreadAt) -> Self {
        Self::new(unread.error.kind(), unread)
    }
}

impl InputError {
    /// True if the file could be used and reading it failed: it changed meanwhile, it was cut, or its disk failed.
    pub fn is_of_reading(&self) -> bool {
        fn reading(wrong: &InputFault) -> bool {
            match wrong {
                InputFault::Changed | InputFault::Cut { .. } | InputFault::Unread { .. } => true,
                InputFault::Archive(Fault::Unread { .. }) => true,
                InputFault::InMember { wrong, .. } => reading(wrong),
                _ => false,
            }
        }
        reading(&self.wrong)
    }
}

impl InputFault {
    /// A field that says what cannot be read. What it says is shown as far as it fits a line.
    pub(super) fn field(at: FilePlace, field: &str, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        const MOST: usize = 60;
        let shown = |text: &str| {
            let whole = text.char_indices().nth(MOST).map_or(text, |(end, _)| &text[..end]);
            let more = if whole.len() < text.len() { ".." } else { "" };
            format!("{}{more}", whole.escape_debug())
        };
        let value = format!("'{}'", shown(&value.to_string())).into();
        Self::Field { at, field: shown(field).into(), value, allowed: allowed.into().into() }
    }
}

/// A place in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FilePlace {
    /// A byte of the file.
    Byte(u64),
    /// A line of it, the first of which is 1.
    Line(u64),
}

impl fmt::Display for FilePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Line(line) => write!(f, "line {line}"),
        }
    }
}

/// What there is instead of the member that was wanted.
fn which_member(wanted: Option<&str>, members: usize, names: &[String]) -> String {
    let more = if members > names.len() { ", .." } else { "" };
    let names = format!("{}{more}", names.join(", "));
    match wanted {
        _ if members == 0 => "an archive without members".into(),
        Some(wanted) => format!("no member '{wanted}'; there are {names}"),
        None => format!("{members} members; name one of them: {names}"),
    }
}
