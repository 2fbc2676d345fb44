//! Trees in files, of a number of dimensions that the file says.

use std::path::Path;

use orthant::Tree;
use orthant::tree::{TreeInfo, TreeJob, TreeStore, TreeTarget};

use super::cells::ToOptions;
use crate::error::Error;

/// Opens a tree and does something with it.
///
/// # Errors
/// Those of the tree's file, and of what is done.
pub(super) fn open(path: &Path, job: impl TreeJob<Output = Result<(), Error>>) -> Result<(), Error> {
    TreeStore::open(path)?.dispatch(job)?
}

/// Saves a tree, and says so.
///
/// # Errors
/// [`Error::Exists`] if there is such a file and it is not to be overwritten; those of writing.
pub(super) fn save<const K: usize>(tree: &Tree<K>, info: &TreeInfo, to: &ToOptions) -> Result<(), Error> {
    let mut writer = TreeTarget::new(&to.output).overwrite(to.force).open(tree.plan(), tree.kind(), info)?;
    writer.write(tree)?;
    writer.finish()?;
    to.wrote();
    Ok(())
}
