//! A file of a list, and how it is read.

use std::path::{Path, PathBuf};

use crate::input::error::{InputError, InputFault};
use crate::input::list::header::{ListHeader, OnEntry};
use crate::input::list::matrix::MatrixList;
use crate::input::list::npy::NpyList;
use crate::input::list::scipy::SciPyList;
use orthant::CellType;

/// A list of cells in a file. Its header was read.
///
/// ```
/// use orthant_formats::input::ListFile;
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-list-{}.mtx", std::process::id()));
/// std::fs::write(&path, "%%MatrixMarket matrix coordinate real general\n3 4 2\n1 1 0.5\n3 2 1\n")?;
/// let list = ListFile::open(&path, None)?;
/// // Four columns and three rows.
/// assert_eq!((list.axes(), list.size(), list.count()), (2, Some(&[4, 3][..]), 2));
/// let mut cells = Vec::new();
/// list.each(&mut |cell, word| {
///     cells.push((cell.to_vec(), list.kind().text(word)));
///     Ok(())
/// })?;
/// assert_eq!(cells, [(vec![0, 0], "0.5".to_owned()), (vec![1, 2], "1".to_owned())]);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ListFile {
    path: PathBuf,
    header: ListHeader,
    layout: ListFormat,
}

#[derive(Debug)]
enum ListFormat {
    Npy(NpyList),
    SciPy(SciPyList),
    Matrix(MatrixList),
}

/// What the name of a file ends with, in letters of either case.
fn ends(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending))
}

impl ListFile {
    /// What names of files of lists end with, for people.
    pub const ENDINGS: &'static str = ".npy, .npz of scipy.sparse, .mtx";

    /// True if a file is a list where nobody says so: a Matrix Market file, or a sparse matrix of scipy.
    pub fn is_list(path: &Path) -> bool {
        ends(path, "mtx") || (ends(path, "npz") && SciPyList::is_one(path))
    }

    /// Opens a file. An array of NumPy has an entry in each row: with `axes` columns all are coordinates, and each value is 1; with one
    /// more the last is the value. Without `axes` all columns are coordinates.
    ///
    /// # Errors
    /// [`InputError`] names the file, what is there and what is allowed.
    pub fn open(path: &Path, axes: Option<usize>) -> Result<Self, InputError> {
        let opened = || -> Result<(ListHeader, ListFormat), InputFault> {
            let (header, layout) = if ends(path, "npy") {
                let list = NpyList::open(path, axes)?;
                (list.header(), ListFormat::Npy(list))
            } else if ends(path, "npz") {
                let list = SciPyList::open(path)?;
                (list.header(), ListFormat::SciPy(list))
            } else if ends(path, "mtx") {
                let list = MatrixList::open(path)?;
                (list.header(), ListFormat::Matrix(list))
            } else {
                return Err(InputFault::NoFormat { known: Self::ENDINGS.into() });
            };
            if axes.is_some_and(|axes| axes != header.axes) {
                let (given, axes) = (axes.unwrap_or_default(), header.axes);
                return Err(InputFault::Other(format!("a list in {axes} dimensions, where {given} are asked for")));
            }
            Ok((header, layout))
        };
        let (header, layout) = opened().map_err(|wrong| InputError { path: path.to_owned(), wrong })?;
        Ok(Self { path: path.to_owned(), header, layout })
    }

    /// Coordinates of each entry: 2 to 6.
    pub fn axes(&self) -> usize {
        self.header.axes
    }

    /// The type of the values.
    pub fn kind(&self) -> CellType {
        self.header.kind
    }

    /// Cells per axis, axis 0 first, if the file says so.
    pub fn size(&self) -> Option<&[u32]> {
        self.header.size.as_deref()
    }

    /// The entries that the file says it has. A symmetric matrix has up to twice as many.
    pub fn count(&self) -> u64 {
        self.header.count
    }

    /// Goes through the entries, in the order of the file.
    ///
    /// # Errors
    /// [`InputError`] names the row, the line or the byte, what is there and what is allowed, and so if `entry` refuses one.
    pub fn each(&self, entry: &mut OnEntry<'_>) -> Result<(), InputError> {
        let read = match &self.layout {
            ListFormat::Npy(list) => list.each(entry),
            ListFormat::SciPy(list) => list.each(entry),
            ListFormat::Matrix(list) => list.each(entry),
        };
        read.map_err(|wrong| InputError { path: self.path.clone(), wrong })
    }
}
