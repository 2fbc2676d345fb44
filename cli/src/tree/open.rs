//! Trees in files, of a number of dimensions that the file says.

use std::path::Path;

use orthant::input::Format;
use orthant::tree::{TreeJob, TreeStore};

use crate::error::Error;

/// Opens a tree and does something with it.
///
/// # Errors
/// Those of the tree's file, and of what is done.
pub(super) fn open(path: &Path, job: impl TreeJob<Output = Result<(), Error>>) -> Result<(), Error> {
    if path.is_file() && Format::of(path).is_some() {
        let path = path.display();
        let reason =
            format!("{path}: an array, not a tree; `orthant tree build {path} -o X.tree.zarr` makes one of it");
        return Err(Error::Input(reason));
    }
    TreeStore::open(path)?.dispatch(job)?
}
