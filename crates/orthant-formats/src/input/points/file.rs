//! A file of points, and how it is read.

use std::path::{Path, PathBuf};

use crate::input::error::{InputError, InputFault};
use crate::input::points::columns::PointColumns;
use crate::input::points::format::PointsFormat;
use crate::input::points::stream::PointsStream;
use crate::input::points::{e57, las, npy, ply, table};
use crate::input::reader::whole_file;
use orthant::points::Points;

/// A file of points, with the columns that are read of it.
///
/// ```
/// use orthant_formats::input::PointsFile;
///
/// # let folder = std::env::temp_dir().join(format!("orthant-doc-points-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// let path = folder.join("scan.csv");
/// std::fs::write(&path, "x,y,z,intensity\n0,0,0,17\n1.5,2,0.25,40\n")?;
/// let points = PointsFile::of(&path)?.attribute("intensity").read()?;
/// assert_eq!((points.len(), points.name(), points.bounds()[0]), (2, Some("scan.csv"), [0.0, 1.5]));
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct PointsFile {
    path: PathBuf,
    format: PointsFormat,
    columns: PointColumns,
}

impl PointsFile {
    /// A file whose name says its format.
    ///
    /// # Errors
    /// [`InputFault::NoFormat`] if it says none that points are read from.
    pub fn of(path: &Path) -> Result<Self, InputError> {
        let none =
            || InputError { path: path.to_owned(), wrong: InputFault::NoFormat { known: PointsFormat::endings() } };
        let format = PointsFormat::of(path).ok_or_else(none)?;
        Ok(Self { path: path.to_owned(), format, columns: PointColumns::default() })
    }

    /// Reads these columns as coordinates, 2 to 6 of them, by their names or by their numbers from 1 on. Otherwise they are those called
    /// x, y and z, or the first three; of `.npy` all are.
    #[must_use]
    pub fn columns(self, columns: &[impl AsRef<str>]) -> Self {
        let coordinates = Some(columns.iter().map(|name| name.as_ref().to_owned()).collect());
        Self { columns: PointColumns { coordinates, ..self.columns }, ..self }
    }

    /// Reads this column, too, as the attribute of points.
    #[must_use]
    pub fn attribute(self, name: impl Into<String>) -> Self {
        Self { columns: PointColumns { attribute: Some(name.into()), ..self.columns }, ..self }
    }

    /// Reads the points. They are called by the file's name without folders.
    ///
    /// # Errors
    /// [`InputError`] names the file, the line or the byte, what is there and what is allowed.
    pub fn read(&self) -> Result<Points, InputError> {
        let points = whole_file(&self.path).and_then(|bytes| self.parse(&bytes));
        let points = points.map_err(|wrong| InputError { path: self.path.clone(), wrong })?;
        Ok(points.named(self.path.file_name().unwrap_or_default().to_string_lossy()))
    }

    /// Goes through points that memory does not hold, once now, and once more whenever they are asked for. Text and `.npy` are read so.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn stream(&self) -> Result<PointsStream, InputError> {
        PointsStream::of(&self.path, self.format, &self.columns)
    }

    /// The points that the bytes of a file are.
    ///
    /// # Errors
    /// [`InputFault`] names the line or the byte, what is there and what is allowed.
    pub fn parse(&self, bytes: &[u8]) -> Result<Points, InputFault> {
        match self.format {
            PointsFormat::Table => table::parse(bytes, &self.columns),
            PointsFormat::Ply => ply::parse(bytes, &self.columns).map(|(points, _)| points),
            PointsFormat::E57 => e57::parse(bytes, &self.columns),
            PointsFormat::Las => las::parse(bytes, &self.columns),
            PointsFormat::Npy => npy::parse(bytes, &self.columns),
        }
    }
}
