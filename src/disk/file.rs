//! An open file: one that was opened through a folder, to append to, or to be read.

use std::fs::{self, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::disk::facts::EntryFacts;
use crate::disk::layer::{Call, through, transfer};
use crate::disk::system;

/// What is said of a pipe, a device or a folder.
pub(super) const NOT_REGULAR: &str = "not a regular file";

/// An open file.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    path: PathBuf,
    /// The next byte to be read or written.
    at: u64,
}

impl File {
    /// A file that is open, of which nothing was read, and what errors call it.
    pub fn new(file: fs::File, path: PathBuf) -> Self {
        Self { file, path, at: 0 }
    }

    /// Opens a file to read it and to append to it; makes it if it is not there. Links are followed: the user named it.
    ///
    /// # Errors
    /// What the system says.
    pub fn append(path: &Path) -> io::Result<Self> {
        let open = || fs::OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = through(Call::Append(path), open)?;
        let at = file.metadata().map_or(0, |facts| facts.len());
        Ok(Self { file, path: path.to_owned(), at })
    }

    /// Opens a file to read it. Links are followed: the user named it.
    ///
    /// # Errors
    /// What the system says; `InvalidInput` if it is no regular file, which is not opened: opening a pipe waits for its other end.
    pub fn open(path: &Path) -> io::Result<Self> {
        let is_regular = |facts: fs::Metadata| match facts.is_file() {
            true => Ok(()),
            false => Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR)),
        };
        is_regular(fs::metadata(path)?)?;
        let file = through(Call::Open(path), || fs::File::open(path))?;
        // Something else may have taken the name meanwhile.
        is_regular(file.metadata()?)?;
        Ok(Self::new(file, path.to_owned()))
    }

    /// Reads some bytes from a place on, as many as the system likes; none at the end. The place where [`Read`] goes on stays, so that
    /// threads can share a file.
    ///
    /// # Errors
    /// What the system says.
    pub fn read_at(&self, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
        let mut some = |most: usize| {
            let most = most.min(bytes.len());
            system::read_at(&self.file, offset, &mut bytes[..most])
        };
        loop {
            match transfer(&Call::Read(&self.path), &mut some) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => return read,
            }
        }
    }

    /// Fills `bytes` from a place on.
    ///
    /// # Errors
    /// What the system says; `UnexpectedEof` if the file ends before.
    pub fn read_exact_at(&self, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.read_at(offset, bytes)? {
                0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends here")),
                read => (offset, bytes) = (offset + read as u64, &mut bytes[read..]),
            }
        }
        Ok(())
    }

    /// The file itself, for whoever maps it: what is read in a mapping passes no layer.
    pub fn system(&self) -> &fs::File {
        &self.file
    }

    /// Its name when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the system knows of it.
    ///
    /// # Errors
    /// What the system says.
    pub fn metadata(&self) -> io::Result<fs::Metadata> {
        self.file.metadata()
    }

    pub(super) fn facts(&self) -> io::Result<EntryFacts> {
        system::file_facts(&self.file)
    }

    /// Cuts it, or makes it longer by zeros, and goes to its end.
    ///
    /// # Errors
    /// What the system says.
    pub fn resize(&mut self, length: u64) -> io::Result<()> {
        through(Call::Resize { path: &self.path, length }, || self.file.set_len(length))?;
        self.seek(SeekFrom::Start(length)).map(drop)
    }

    /// Brings its bytes to the disk.
    ///
    /// # Errors
    /// What the system says.
    pub fn sync(&self) -> io::Result<()> {
        through(Call::Sync(&self.path), || self.file.sync_data())
    }

    /// Locks it, unless another process has.
    ///
    /// # Errors
    /// [`TryLockError::WouldBlock`] if another process has locked it; else what the system says.
    pub fn try_lock(&self) -> Result<(), TryLockError> {
        let mut blocked = false;
        let locked = through(Call::Lock(&self.path), || match self.file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                blocked = true;
                Ok(())
            }
            Err(TryLockError::Error(error)) => Err(error),
            Ok(()) => Ok(()),
        });
        match locked {
            Ok(()) if blocked => Err(TryLockError::WouldBlock),
            Ok(()) => Ok(()),
            Err(error) => Err(TryLockError::Error(error)),
        }
    }

    /// Unlocks it: processes that are just being made keep it open for a moment.
    pub(super) fn unlock(&self) {
        let _ = self.file.unlock();
    }
}

impl Read for File {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Self { file, path, at } = self;
        let read = transfer(&Call::Read(path), &mut |most| {
            let most = most.min(bytes.len());
            file.read(&mut bytes[..most])
        })?;
        *at += read as u64;
        Ok(read)
    }
}

impl Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Self { file, path, at } = self;
        let call = Call::Write { path, at: *at, bytes };
        let written = transfer(&call, &mut |most| file.write(&bytes[..most.min(bytes.len())]))?;
        *at += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for File {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.at = self.file.seek(to)?;
        Ok(self.at)
    }
}
