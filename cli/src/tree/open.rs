//! Trees in files, of a number of dimensions that the file says.

use std::path::Path;

use orthant::tree::{TreeError, TreeJob, TreeStore};
use orthant_formats::input::Format;

use crate::error::Error;
use crate::output::has_extension;
use crate::output::tree::tree_name;
use crate::remote;

/// Opens a tree and does something with it.
///
/// # Errors
/// Those of the tree's file, and of what is done.
pub(super) fn open(path: &Path, job: impl TreeJob<Output = Result<(), Error>>) -> Result<(), Error> {
    store(path)?.dispatch(job)?
}

/// Opens a tree: a folder or a file, or what a URL names.
///
/// # Errors
/// Those of the tree's file, or of the server.
pub(super) fn store(path: &Path) -> Result<TreeStore, Error> {
    Ok(found(path)??)
}

/// The same, with what is wrong with the tree apart from what is wrong with its name.
///
/// # Errors
/// [`Error::Input`] if no tree can be meant.
pub(super) fn found(path: &Path) -> Result<Result<TreeStore, TreeError>, Error> {
    match remote::open(path)? {
        Some(remote) => Ok(TreeStore::open_remote(remote)),
        None => {
            refuse_array(path)?;
            let meant = tree_name(path);
            if !path.exists() && Path::new(&meant).exists() {
                let path = path.display();
                return Err(Error::Input(format!("{path}: there is no such tree; did you mean {meant}?")));
            }
            Ok(TreeStore::open(path))
        }
    }
}

/// Checks that a path names no array.
///
/// # Errors
/// [`Error::Input`] names the command that makes a tree of it.
fn refuse_array(path: &Path) -> Result<(), Error> {
    if path.is_file() && !has_extension(path, "zip") && Format::of(path).is_some() {
        let path = path.display();
        let reason =
            format!("{path}: an array, not a tree; `orthant tree build {path} -o X.tree.zarr` makes one of it");
        return Err(Error::Input(reason));
    }
    Ok(())
}
