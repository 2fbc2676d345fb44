//! A file that takes its name when it is complete.

use std::ffi::{OsStr, OsString};
use std::fs::TryLockError;
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};

use crate::disk::file::File;
use crate::disk::folder::Folder;
use crate::disk::layer::Renaming;
use crate::disk::leftover::{PREFIX, is_named};
use crate::disk::sweep::{TEMPORARY, sweep};

/// Names that are tried before there must be another reason.
pub(super) const TRIES: usize = 64;

/// A name that nobody can guess.
pub(super) fn random(suffix: &str) -> OsString {
    format!("{PREFIX}{:016x}{suffix}", RandomState::new().hash_one(0)).into()
}

/// A file under a random name beside its target. It goes when this is dropped, and the next process that writes there removes it if
/// this one is killed: a living owner holds a lock on it.
#[derive(Debug)]
pub struct Temporary {
    beside: Folder,
    name: OsString,
    file: File,
    placed: bool,
}

impl Temporary {
    /// A new file in a folder, from which leftovers of killed processes are removed.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let beside = Folder::open(folder)?;
        sweep(&beside);
        for _ in 0..TRIES {
            let name = random(TEMPORARY);
            let file = match beside.create(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                file => file?,
            };
            match file.try_lock() {
                // Another process took it for a leftover before it was locked.
                Err(TryLockError::WouldBlock) => continue,
                Ok(()) if !is_named(&beside, &name, &file) => continue,
                // Where files cannot be locked nothing is swept either.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok(Self { beside, name, file, placed: false }),
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub fn path(&self) -> PathBuf {
        self.beside.path().join(&self.name)
    }

    /// The file.
    pub fn file(&mut self) -> &mut File {
        &mut self.file
    }

    /// Brings the file to the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// Gives the file, which is on the disk, a name in its folder, and brings that to the disk.
    ///
    /// # Errors
    /// What the system says; `AlreadyExists` if the name is taken and `place` is [`Renaming::New`].
    pub fn persist(mut self, name: &OsStr, place: Renaming) -> io::Result<()> {
        self.beside.rename(&self.name, &self.beside, name, place)?;
        self.placed = true;
        self.beside.sync()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.placed {
            let _ = self.beside.remove(&self.name);
        }
    }
}
