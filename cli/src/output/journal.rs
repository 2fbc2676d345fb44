//! Files that grow by one line at a time and survive being interrupted.
//!
//! A line and its end are written by one call to a file opened for appending, then flushed to the disk. What a killed
//! process may leave is a last line without its end; it is cut off when the file is resumed. A lock keeps a second
//! process from writing meanwhile.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::error::Error;

/// An open file of lines.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// An empty file.
    ///
    /// # Errors
    /// [`Error::Exists`] if there is one with something in it and `force` is off; [`Error::Input`] if another process
    /// writes to it; [`Error::File`].
    pub fn create(path: &Path, force: bool) -> Result<Self, Error> {
        let journal = Self::open(path)?;
        let failed = |source| Error::File { path: path.to_owned(), source };
        if journal.file.metadata().map_err(failed)?.len() > 0 {
            if !force {
                return Err(Error::Exists { path: path.to_owned() });
            }
            journal.file.set_len(0).map_err(failed)?;
        }
        Ok(journal)
    }

    /// The file as it is, or an empty one, with its whole lines. A torn last line is cut off.
    ///
    /// # Errors
    /// [`Error::Input`] if another process writes to it; [`Error::File`].
    pub fn resume(path: &Path) -> Result<(Self, String), Error> {
        let mut journal = Self::open(path)?;
        let failed = |source| Error::File { path: path.to_owned(), source };
        let mut bytes = Vec::new();
        journal.file.seek(SeekFrom::Start(0)).map_err(failed)?;
        journal.file.read_to_end(&mut bytes).map_err(failed)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        if whole < bytes.len() {
            journal.file.set_len(whole as u64).map_err(failed)?;
            bytes.truncate(whole);
        }
        let lines = String::from_utf8(bytes)
            .map_err(|_| failed(std::io::Error::new(std::io::ErrorKind::InvalidData, "is not UTF-8 text")))?;
        Ok((journal, lines))
    }

    fn open(path: &Path) -> Result<Self, Error> {
        let failed = |source| Error::File { path: path.to_owned(), source };
        let file = OpenOptions::new().read(true).append(true).create(true).open(path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Self { path: path.to_owned(), file }),
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
        self.file.write_all(format!("{line}\n").as_bytes()).map_err(failed)?;
        self.file.sync_data().map_err(failed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_torn_line_is_cut_off_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let mut journal = Journal::create(&path, false).unwrap();
        journal.append("one").unwrap();
        assert!(matches!(Journal::resume(&path), Err(Error::Input(text)) if text.contains("another process")));
        drop(journal);
        std::fs::write(&path, "one\ntwo\nthr").unwrap();
        let (mut journal, lines) = Journal::resume(&path).unwrap();
        assert_eq!(lines, "one\ntwo\n");
        journal.append("three").unwrap();
        drop(journal);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "one\ntwo\nthree\n");
        assert!(matches!(Journal::create(&path, false), Err(Error::Exists { .. })));
        drop(Journal::create(&path, true).unwrap());
        assert_eq!(std::fs::read(&path).unwrap(), b"");
    }
}
