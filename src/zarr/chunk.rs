//! One chunk as bytes of a file: a Zstandard frame that says how much it holds, and a CRC-32C.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};
use zstd::zstd_safe::{compress_bound, get_frame_content_size};

/// True but where a fuzzer makes files: it changes bytes faster than it finds the checksum of what it changed, and whoever means harm
/// writes the right one.
pub const CHECKSUMS: bool = !cfg!(fuzzing);

/// Zstandard's own default. What levels above 3 compress with is not built in (`.cargo/config.toml`).
pub(super) const LEVEL: i32 = 3;

/// Bytes of a checksum.
pub(super) const CRC: usize = 4;

/// Bytes of a chunk in the index of a shard: where it begins, and how long it is.
pub(super) const ENTRY: usize = 16;

/// The most bytes that a chunk of so many has in a file.
pub(super) fn most_encoded(chunk_bytes: usize) -> usize {
    compress_bound(chunk_bytes).saturating_add(CRC)
}

thread_local! {
    // They hold tables that take longer to make than a small chunk to go through them.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Appends the CRC-32C of `bytes[from..]`.
pub(super) fn seal(bytes: &mut Vec<u8>, from: usize) {
    let crc = crc32c::crc32c(&bytes[from..]);
    bytes.extend(crc.to_le_bytes());
}

/// What comes before the CRC-32C at the end; None if it is not that of what comes before.
pub(super) fn sealed(bytes: &[u8]) -> Option<&[u8]> {
    let (content, crc) = bytes.split_at_checked(bytes.len().checked_sub(CRC)?)?;
    (!CHECKSUMS || crc == crc32c::crc32c(content).to_le_bytes()).then_some(content)
}

/// The bytes of a chunk as they are in a file.
///
/// # Errors
/// If there is no memory.
pub fn encode(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoded = COMPRESSOR.with_borrow_mut(|slot| -> io::Result<Vec<u8>> {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(Compressor::new(LEVEL)?),
        };
        compressor.compress(bytes)
    })?;
    seal(&mut encoded, 0);
    encoded.shrink_to_fit();
    Ok(encoded)
}

/// Why bytes of a file are no chunk.
pub(super) enum Broken {
    /// The checksum is another.
    Checksum,
    /// The frame is none, or holds more or less.
    Frame(String),
}

/// Writes the chunk that a file's bytes hold into `chunk`, all of it.
pub(super) fn decode(encoded: &[u8], chunk: &mut [u8]) -> Result<(), Broken> {
    let frame = sealed(encoded).ok_or(Broken::Checksum)?;
    let need = chunk.len() as u64;
    let wrong = |held: String| Err(Broken::Frame(held));
    match get_frame_content_size(frame) {
        Ok(Some(held)) if held == need => {}
        Ok(Some(held)) => return wrong(format!("the frame says that it holds {held} bytes")),
        Ok(None) => return wrong("the frame does not say how much it holds".into()),
        Err(_) => return wrong("no Zstandard frame".into()),
    }
    let written = DECOMPRESSOR.with_borrow_mut(|slot| -> io::Result<usize> {
        let decompressor = match slot {
            Some(decompressor) => decompressor,
            None => slot.insert(Decompressor::new()?),
        };
        decompressor.decompress_to_buffer(frame, chunk)
    });
    match written {
        Ok(written) if written == chunk.len() => Ok(()),
        Ok(written) => wrong(format!("{written} bytes came out")),
        Err(error) => wrong(error.to_string()),
    }
}
