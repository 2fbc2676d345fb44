//! Reading files so that an error says at which byte.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::input::error::{InputFault, UnreadAt};
use orthant::disk::File;
use orthant::memory::reserve;

/// A part of a file, whatever others read of it meanwhile. An error has the byte in it, as [`InputFault`] tells it.
pub(super) struct FilePart<'f> {
    file: &'f File,
    at: u64,
    left: u64,
}

impl<'f> FilePart<'f> {
    /// So many bytes from a byte on; fewer if the file ends before.
    pub(super) fn new(file: &'f File, at: u64, bytes: u64) -> Self {
        Self { file, at, left: bytes }
    }
}

impl Read for FilePart<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let most = self.left.min(buffer.len() as u64) as usize;
        if most == 0 {
            return Ok(0);
        }
        let read = self.file.read_at(self.at, &mut buffer[..most]);
        let read = read.map_err(|error| UnreadAt { byte: self.at, error })?;
        (self.at, self.left) = (self.at + read as u64, self.left - read as u64);
        Ok(read)
    }
}

/// Opens a file that has a length.
pub(super) fn open(path: &Path) -> Result<(File, u64), InputFault> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(InputFault::NoFile);
    }
    let file = File::open(path)?;
    let length = file.metadata()?.len();
    Ok((file, length))
}

/// All bytes of a file, in memory.
pub(super) fn whole_file(path: &Path) -> Result<Vec<u8>, InputFault> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::new();
    let refused = || InputFault::Io(io::Error::from(io::ErrorKind::OutOfMemory));
    let room = usize::try_from(length).map_err(|_| refused())?;
    reserve(&mut bytes, room).map_err(|_| refused())?;
    FilePart::new(&file, 0, length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 {
        read if read < length => Err(InputFault::Cut { byte: read, length: read }),
        _ => Ok(bytes),
    }
}

/// The first bytes of a file, as many as a header can have.
pub(super) fn head_of(path: &Path) -> Result<Vec<u8>, InputFault> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::new();
    FilePart::new(&file, 0, length.min(1 << 16)).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Bytes of a file that are read at once where pieces of it lie near each other, and how near.
const WINDOW: u64 = 1 << 18;
const NEAR: u64 = 1 << 16;

/// The file that was opened last, so that pieces of one file that follow each other open it once. Small ones that lie near each other
/// are read together.
#[derive(Default)]
pub(super) struct LastFile {
    file: Option<(PathBuf, File, u64)>,
    /// Where the last piece ended.
    end: u64,
    /// Bytes of the file, and where they begin.
    window: (u64, Vec<u8>),
}

impl LastFile {
    /// A file and its length.
    ///
    /// # Errors
    /// If it cannot be opened, or has no length.
    pub(super) fn open(&mut self, path: &Path) -> Result<(&File, u64), InputFault> {
        if self.file.as_ref().is_none_or(|(last, ..)| last != path) {
            let (file, length) = open(path)?;
            *self = Self { file: Some((path.to_owned(), file, length)), end: 0, window: (0, Vec::new()) };
        }
        let (_, file, length) = self.file.as_ref().expect("it was just put there");
        Ok((file, *length))
    }

    /// Copies bytes of the file that is open; false if it has fewer.
    ///
    /// # Errors
    /// If it cannot be read, or `out` not be written.
    pub(super) fn copy(&mut self, start: u64, bytes: u64, out: &mut dyn Write) -> Result<bool, InputFault> {
        let (_, file, _) = self.file.as_ref().expect("a file is open");
        let near = start.checked_sub(self.end).is_some_and(|gap| gap.saturating_add(bytes) <= NEAR);
        self.end = start.saturating_add(bytes);
        if !near {
            return Ok(io::copy(&mut FilePart::new(file, start, bytes), out)? == bytes);
        }
        let (from, window) = &mut self.window;
        if start < *from || self.end > *from + window.len() as u64 {
            *from = start;
            window.clear();
            FilePart::new(file, start, WINDOW).read_to_end(window)?;
        }
        let first = (start - *from) as usize;
        let Some(piece) = window.get(first..first + bytes as usize) else { return Ok(false) };
        out.write_all(piece)?;
        Ok(true)
    }
}
