//! Reading files so that an error says at which byte.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::input::error::{UnreadAt, Wrong};
use crate::zarr::read_at;

/// A part of a file, whatever others read of it meanwhile. An error has the byte in it, as [`Wrong`] tells it.
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
        let read = read_at(self.file, self.at, &mut buffer[..most]);
        let read = read.map_err(|error| UnreadAt { byte: self.at, error })?;
        (self.at, self.left) = (self.at + read as u64, self.left - read as u64);
        Ok(read)
    }
}

/// Opens a file that has a length.
pub(super) fn open(path: &Path) -> Result<(File, u64), Wrong> {
    // Before it is opened: opening a pipe waits for a writer.
    if !std::fs::metadata(path)?.is_file() {
        return Err(Wrong::NoFile);
    }
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_file() { Ok((file, metadata.len())) } else { Err(Wrong::NoFile) }
}

/// The file that was opened last, so that pieces of one file that follow each other open it once.
#[derive(Default)]
pub(super) struct LastFile(Option<(PathBuf, File, u64)>);

impl LastFile {
    /// A file and its length.
    ///
    /// # Errors
    /// If it cannot be opened, or has no length.
    pub(super) fn open(&mut self, path: &Path) -> Result<(&File, u64), Wrong> {
        if self.0.as_ref().is_none_or(|(last, ..)| last != path) {
            let (file, length) = open(path)?;
            self.0 = Some((path.to_owned(), file, length));
        }
        let (_, file, length) = self.0.as_ref().expect("it was just put there");
        Ok((file, *length))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder can be opened and not read, which is as a file whose disk fails.
    #[cfg(unix)]
    #[test]
    fn an_error_says_at_which_byte() {
        let folder = File::open(env!("CARGO_MANIFEST_DIR")).unwrap();
        let read = |reader: &mut dyn Read| reader.read(&mut [0; 4]).map_err(Wrong::from).unwrap_err().to_string();
        let plain = read(&mut FilePart::new(&folder, 77, 1000));
        assert!(plain.starts_with("byte 77: cannot be read: ") && plain.contains("directory"), "{plain}");
        // On its way through what unpacks it.
        let buffered = io::BufReader::new(FilePart::new(&folder, 8, 1000));
        let unpacked = read(&mut flate2::bufread::ZlibDecoder::new(buffered));
        assert!(unpacked.starts_with("byte 8: cannot be read: "), "{unpacked}");
    }
}
