//! Trees in files, of a number of dimensions that the file says.

use std::path::Path;

use orthant::tree::{TreeJob, TreeStore};

use crate::error::Error;

/// Opens a tree and does something with it.
///
/// # Errors
/// Those of the tree's file, and of what is done.
pub(super) fn open(path: &Path, job: impl TreeJob<Output = Result<(), Error>>) -> Result<(), Error> {
    TreeStore::open(path)?.dispatch(job)?
}
