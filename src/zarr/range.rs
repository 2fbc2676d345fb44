//! Ranges of files, which threads read without a place of their own in them.

use std::fs::File;
use std::io;

/// Reads some bytes from a place of a file on, as many as the system likes; none at the end.
#[cfg(unix)]
fn read_some_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, bytes, offset)
}

/// Reads some bytes from a place of a file on, as many as the system likes; none at the end.
#[cfg(windows)]
fn read_some_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, bytes, offset)
}

/// Reads some bytes from a place of a file on, whatever signals come meanwhile; none at the end.
pub(crate) fn read_at(file: &File, offset: u64, bytes: &mut [u8]) -> io::Result<usize> {
    loop {
        match read_some_at(file, offset, bytes) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Fills `bytes` from a place of a file on.
pub(crate) fn read_exact_at(file: &File, mut offset: u64, mut bytes: &mut [u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match read_at(file, offset, bytes)? {
            0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends here")),
            read => (offset, bytes) = (offset + read as u64, &mut bytes[read..]),
        }
    }
    Ok(())
}
