//! Files that grow by one line at a time and survive being interrupted.
//!
//! A line and its end are written by one call to a file opened for appending, then flushed to the disk. What a killed
//! process may leave is a last line without its end. Whose that is, and what of it stays, knows only who wrote it: nothing
//! is changed before that is told. A lock keeps a second process from writing meanwhile.

use std::fs::TryLockError;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use orthant::disk::{File, abandon};

use super::folder::expect_folder;
use crate::error::Error;
use crate::interrupt::undisturbed;

/// An open file of lines.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// It was not there before, and nothing is in it.
    fresh: bool,
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.fresh {
            // It is as it was.
            abandon(&self.path);
        }
    }
}

impl Journal {
    /// An empty file.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is one with something in it and `force` is off; [`Error::Input`] if another process
    /// writes to it; [`Error::File`].
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let mut journal = Self::open(path)?;
        let failed = |source| Error::File { path: path.to_owned(), source };
        if journal.file.metadata().map_err(failed)?.len() > 0 {
            if !force {
                return Err(Error::Exists { path: path.to_owned() });
            }
            journal.file.resize(0).map_err(failed)?;
        }
        Ok(journal)
    }

    /// The file as it is, or an empty one, with what is in it.
    ///
    /// # Errors
    /// [`Error::Input`] if another process writes to it; [`Error::File`].
    pub fn resume(path: &Path) -> Result<(Self, Vec<u8>), Error> {
        let mut journal = Self::open(path)?;
        if journal.file.metadata().is_ok_and(|facts| !facts.is_file()) {
            let error = Error::Input(format!("--resume {}: is no file that can be read again", path.display()));
            return Err(error.about(&["output"]));
        }
        let mut bytes = Vec::new();
        let read = journal.file.seek(SeekFrom::Start(0)).and_then(|_| journal.file.read_to_end(&mut bytes));
        read.map_err(|source| Error::File { path: path.to_owned(), source })?;
        Ok((journal, bytes))
    }

    /// Keeps so many of `bytes`, which is all that it holds, and ends their last line if it has no end.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn mend(&mut self, bytes: &[u8], kept: usize) -> Result<(), Error> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        if kept < bytes.len() {
            self.file.resize(kept as u64).map_err(failed)?;
        }
        match bytes[..kept].last() {
            None | Some(b'\n') => Ok(()),
            Some(_) => self.file.write_all(b"\n").map_err(failed),
        }
    }

    /// A file that was not there before goes with an end from outside, until it is told to [stay](crate::interrupt::Ending::keep).
    fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        expect_folder(path)?;
        let fresh = !path.exists();
        let file = File::append(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {
                // Another process may have written it since.
                let fresh = fresh && file.metadata().is_ok_and(|facts| facts.len() == 0);
                if fresh {
                    undisturbed().temporary(path.to_owned());
                }
                Ok(Self { path: path.to_owned(), file, fresh })
            }
            Err(TryLockError::WouldBlock) => {
                Err(Error::Input(format!("--output {}: another process is writing to it", path.display())))
            }
            Err(TryLockError::Error(source)) => Err(failed(source)),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Appends a line; `line` has no line end.
    ///
    /// # Errors
    /// [`Error::File`].
    pub fn append(&mut self, line: &str) -> Result<(), Error> {
        let failed = |source| Error::File { path: self.path.clone(), source };
        self.fresh = false;
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        match self.file.sync() {
            // A pipe or a device has nothing to bring to a disk.
            Err(error) if error.kind() == ErrorKind::InvalidInput => Ok(()),
            done => done.map_err(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_stays_until_told_otherwise() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut journal = Journal::create(&path, false).unwrap();
        journal.append("one").unwrap();
        assert!(matches!(Journal::resume(&path), Err(Error::Input(text)) if text.contains("another process")));
        drop(journal);
        for (kept, found) in [(11, "one\ntwo\nthr\n4\n"), (8, "one\ntwo\n4\n"), (0, "4\n")] {
            std::fs::write(&path, "one\ntwo\nthr").unwrap();
            let (mut journal, bytes) = Journal::resume(&path).unwrap();
            assert_eq!((&bytes, &std::fs::read(&path).unwrap()), (&b"one\ntwo\nthr".to_vec(), &bytes));
            journal.mend(&bytes, kept).unwrap();
            journal.append("4").unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), found);
        }
        assert!(matches!(Journal::create(&path, false), Err(Error::Exists { .. })));
        drop(Journal::create(&path, true).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
