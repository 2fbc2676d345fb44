//! The folder of an output, which has to be there before any work.

use std::io::{Error as IoError, ErrorKind};
use std::path::Path;

use crate::error::Error;
use orthant::disk::parent;

/// Checks that the folder of an output is there, before any work.
///
/// # Errors
/// [`Error::File`] names the output, the folder and the command that makes it.
pub fn expect_folder(output: &Path) -> Result<(), Error> {
    missing_folder(output, parent(output))
}

/// The same of the folder of a file that links lead to.
///
/// # Errors
/// As [`expect_folder`].
pub(super) fn missing_folder(output: &Path, folder: &Path) -> Result<(), Error> {
    if folder.is_dir() {
        return Ok(());
    }
    let folder = folder.display();
    let quote = if folder.to_string().contains(' ') { "'" } else { "" };
    let reason = format!("there is no folder {folder}; `mkdir -p {quote}{folder}{quote}` makes it");
    Err(Error::File { path: output.to_owned(), source: IoError::new(ErrorKind::NotFound, reason) })
}
