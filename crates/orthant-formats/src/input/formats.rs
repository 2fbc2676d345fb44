//! The formats that there are: a line for each.

use std::path::{Path, PathBuf};

use crate::input::format::Format;
#[cfg(feature = "hdf5")]
use crate::input::hdf5;
use crate::input::{metaimage, nifti, npy, npz, nrrd, slices, tiff, zarr};

/// All formats. Folders that are of none before are slices.
static FORMATS: &[Format] = &[
    npy::FORMAT,
    npz::FORMAT,
    nifti::FORMAT,
    nrrd::FORMAT,
    metaimage::FORMAT,
    tiff::FORMAT,
    #[cfg(feature = "hdf5")]
    hdf5::FORMAT,
    zarr::FORMAT,
    slices::FORMAT,
];

impl Format {
    /// All that can be read.
    pub fn all() -> &'static [Self] {
        FORMATS
    }

    /// What names of files of all formats end with, as a list for people.
    pub fn endings() -> String {
        let endings: Vec<_> = FORMATS.iter().flat_map(Self::extensions).map(|ending| format!(".{ending}")).collect();
        endings.join(", ")
    }

    /// The format of a file or folder, by its name, and if that says nothing by what a folder holds.
    pub fn of(path: &Path) -> Option<&'static Self> {
        let named = FORMATS.iter().find(|format| format.has(path));
        named.or_else(|| FORMATS.iter().find(|format| (format.folder)(path)))
    }

    /// A file, and the array in it that is named after it, unless a file has just that name.
    pub fn parts(path: &Path) -> (PathBuf, Option<String>) {
        let split = FORMATS.iter().find_map(|format| format.split(path)).filter(|_| !path.exists());
        match split {
            Some((file, part)) => (file, Some(part)),
            None => (path.to_owned(), None),
        }
    }
}
