//! Trees in files, of a number of dimensions that the file says.

use std::path::Path;

use orthant::input::Format;
use orthant::tree::{TreeJob, TreeStore};

use crate::error::Error;
use crate::output::has_extension;

/// Opens a tree and does something with it.
///
/// # Errors
/// Those of the tree's file, and of what is done.
pub(super) fn open(path: &Path, job: impl TreeJob<Output = Result<(), Error>>) -> Result<(), Error> {
    refuse_array(path)?;
    TreeStore::open(path)?.dispatch(job)?
}

/// Checks that a path names no array.
///
/// # Errors
/// [`Error::Input`] names the command that makes a tree of it.
pub(super) fn refuse_array(path: &Path) -> Result<(), Error> {
    if path.is_file() && !has_extension(path, "zip") && Format::of(path).is_some() {
        let path = path.display();
        let reason =
            format!("{path}: an array, not a tree; `orthant tree build {path} -o X.tree.zarr` makes one of it");
        return Err(Error::Input(reason));
    }
    Ok(())
}
