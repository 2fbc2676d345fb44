//! The formats of points.

use std::path::Path;

use crate::input::error::InputFault;
use crate::input::ply::PlyHeader;
use crate::input::reader::head_of;
use orthant::registry;

registry! {
    /// A format that points are read from.
    ///
    /// ```
    /// use std::path::Path;
    /// use orthant_formats::input::PointsFormat;
    ///
    /// assert_eq!(PointsFormat::of(Path::new("scan.XYZ")), Some(PointsFormat::Table));
    /// // An array of coordinates is read as points where that is asked for.
    /// assert_eq!(PointsFormat::of(Path::new("array.npy")), Some(PointsFormat::Npy));
    /// assert_eq!(PointsFormat::of(Path::new("part.stl")), None);
    /// ```
    pub enum PointsFormat("points format") {
        /// Text with a point on each line.
        Table = "table",
        /// The vertices of PLY, text or binary.
        Ply = "ply",
        /// An array of coordinates of NumPy.
        Npy = "npy",
        /// The scans of E57.
        E57 = "e57",
        /// LAS and LAZ, which the cargo feature `las` reads.
        Las = "las",
    }
}

impl PointsFormat {
    /// What names of files of the format end with, without the point.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Self::Table => &["xyz", "csv", "tsv", "txt", "asc", "pts"],
            Self::Ply => &["ply"],
            Self::Npy => &["npy"],
            Self::E57 => &["e57"],
            Self::Las => &["las", "laz"],
        }
    }

    /// The format of a file by what its name ends with, in letters of either case.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?;
        let is = |format: &Self| format.extensions().iter().any(|known| ending.eq_ignore_ascii_case(known));
        Self::ALL.iter().copied().find(is)
    }

    /// What names of files end with, for people.
    pub fn endings() -> String {
        let all = Self::ALL.iter().flat_map(|format| format.extensions());
        all.map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ")
    }

    /// True if a file is to be taken for points where nobody says so: a table of text, E57, LAS, and PLY without faces. A PLY file whose
    /// header cannot be read is not.
    pub fn is_points(path: &Path) -> bool {
        match Self::of(path) {
            Some(Self::Table | Self::E57 | Self::Las) => true,
            Some(Self::Ply) => head_of(path).and_then(|head| faceless(&head)).unwrap_or(false),
            _ => false,
        }
    }
}

/// True of a header of PLY that counts vertices and no faces.
fn faceless(head: &[u8]) -> Result<bool, InputFault> {
    let header = PlyHeader::of(head)?;
    let count = |name: &[u8]| {
        header.elements.iter().filter(|element| element.name == name).map(|element| element.count).max().unwrap_or(0)
    };
    Ok(count(b"vertex") > 0 && count(b"face") == 0)
}
