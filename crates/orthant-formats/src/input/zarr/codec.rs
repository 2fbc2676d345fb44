//! What was done to the bytes of a chunk, and how they become what they were: never more of them than they can have been.

use std::io::Read;

use flate2::read::{MultiGzDecoder, ZlibDecoder};

use crate::input::zarr::blosc;
use crate::input::zarr::unpack_error::UnpackError;
use orthant::memory::{reserve, zeros};

/// What was done to bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkCodec {
    Gzip,
    Zlib,
    Zstandard,
    Blosc,
    /// As numcodecs has it: the number of bytes, and a block.
    Lz4,
    /// Packs nothing, and has a checksum at the end.
    Crc32c,
}

impl ChunkCodec {
    /// By the name that metadata has for it, of either version.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("numcodecs.").unwrap_or(name) {
            "gzip" => Self::Gzip,
            "zlib" => Self::Zlib,
            "zstd" => Self::Zstandard,
            "blosc" => Self::Blosc,
            "lz4" => Self::Lz4,
            "crc32c" if name == "crc32c" => Self::Crc32c,
            _ => return None,
        })
    }

    fn unpack(self, bytes: &[u8], most: usize) -> Result<Vec<u8>, UnpackError> {
        match self {
            Self::Gzip => read(MultiGzDecoder::new(bytes), most),
            Self::Zlib => read(ZlibDecoder::new(bytes), most),
            Self::Zstandard => {
                let frames = zstd::Decoder::with_buffer(bytes).map_err(|error| error.to_string())?;
                read(frames, most)
            }
            Self::Blosc => blosc::unpack(bytes, most),
            Self::Lz4 => {
                let (length, block) = bytes.split_first_chunk().ok_or("it ends within its length")?;
                let length = u32::from_le_bytes(*length) as usize;
                if length > most {
                    return Err(format!("LZ4 says that it holds {length} bytes").into());
                }
                let mut out = zeros(length)?;
                let written = lz4_flex::block::decompress_into(block, &mut out).map_err(|error| error.to_string())?;
                if written == length { Ok(out) } else { Err(format!("{written} bytes came out of LZ4").into()) }
            }
            Self::Crc32c => {
                let (content, crc) = bytes.split_last_chunk().ok_or("it ends within its checksum")?;
                let right = crc32c::crc32c(content).to_le_bytes() == *crc;
                if right { Ok(content.to_vec()) } else { Err("its CRC-32C is another".into()) }
            }
        }
    }
}

/// The most bytes that so many have once they are packed, by whatever packs badly.
pub(super) fn most_packed(bytes: u64) -> u64 {
    bytes + bytes / 8 + (1 << 16)
}

/// So many bytes, out of those to which the codecs were done one after the other.
pub(super) fn unpack(codecs: &[ChunkCodec], mut bytes: Vec<u8>, need: usize) -> Result<Vec<u8>, UnpackError> {
    for (index, codec) in codecs.iter().enumerate().rev() {
        let most = if index == 0 { need as u64 } else { most_packed(need as u64) };
        bytes = codec.unpack(&bytes, most as usize)?;
    }
    if bytes.len() == need { Ok(bytes) } else { Err(format!("{} bytes came out", bytes.len()).into()) }
}

fn read(bytes: impl Read, most: usize) -> Result<Vec<u8>, UnpackError> {
    let mut out = Vec::new();
    reserve(&mut out, most + 64)?;
    bytes.take(most as u64 + 1).read_to_end(&mut out).map_err(|error| error.to_string())?;
    if out.len() > most { Err(format!("more than {most} bytes came out").into()) } else { Ok(out) }
}
