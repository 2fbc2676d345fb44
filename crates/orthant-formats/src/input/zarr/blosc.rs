//! Blosc 1, the packing that zarr-python has for Zarr v2: blocks, each of which is packed by itself, of bytes or bits that were sorted
//! by their place in a cell.
//!
//! Written here, and not called in C, because what a file says is not believed: no byte is read or written beyond what there is.

use flate2::{Decompress, FlushDecompress, Status};

use crate::input::zarr::unpack_error::UnpackError;
use orthant::memory::zeros;

/// Bytes before the first block's place.
const HEADER: usize = 16;

/// Parts of a block are packed by themselves if cells have no more bytes, and a part no fewer.
const MOST_PARTS: usize = 16;
const LEAST_PART: usize = 128;

/// The bytes that were packed, at most `most`.
pub(super) fn unpack(packed: &[u8], most: usize) -> Result<Vec<u8>, UnpackError> {
    let header = packed.get(..HEADER).ok_or("it ends within the header of Blosc")?;
    let number = |at: usize| u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes")) as usize;
    let (flags, width) = (header[2], usize::from(header[3]).max(1));
    let (bytes, block, whole) = (number(4), number(8), number(12));
    if header[0] > 2 || flags & 0b101 == 0b101 {
        return Err("packed by Blosc 2; what Blosc 1 packed can be read".into());
    }
    if bytes > most {
        return Err(format!("Blosc says that it holds {bytes} bytes").into());
    }
    if bytes == 0 {
        return Ok(Vec::new());
    }
    let packed = packed.get(..whole).ok_or("it ends before the bytes that Blosc says it has")?;
    let mut out = zeros::<u8>(bytes)?;
    if flags & 0b10 != 0 {
        out.copy_from_slice(packed.get(HEADER..HEADER + bytes).ok_or("it ends too soon")?);
        return Ok(out);
    }
    if block == 0 {
        return Err("Blosc says that its blocks have no bytes".into());
    }
    let codec = BlockCodec::of(flags >> 5)?;
    let mut sorted = zeros::<u8>(block.min(bytes))?;
    for (index, out) in out.chunks_mut(block).enumerate() {
        let sorted = &mut sorted[..out.len()];
        let place = HEADER + 4 * index;
        let start = packed.get(place..place + 4).ok_or("it ends within the places of blocks")?;
        let start = u32::from_le_bytes(start.try_into().expect("four bytes")) as usize;
        let part = out.len() / width;
        let parts = if flags & 0b1_0000 == 0 && width <= MOST_PARTS && part >= LEAST_PART && out.len() == block {
            width
        } else {
            1
        };
        if !out.len().is_multiple_of(parts) {
            return Err("a block of Blosc is no whole number of cells".into());
        }
        let mut rest = packed.get(start..).ok_or("a block begins after the end")?;
        for part in sorted.chunks_mut(out.len() / parts) {
            let length = rest.split_off(..4).ok_or("a block ends too soon")?;
            let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
            let piece = rest.split_off(..length).ok_or("a block ends too soon")?;
            if length == part.len() {
                part.copy_from_slice(piece);
            } else {
                codec.unpack(piece, part).ok_or_else(|| format!("what {codec:?} packed is damaged"))?;
            }
        }
        match flags & 0b101 {
            0b001 if width > 1 => in_cells(sorted, out, width),
            0b100 if (out.len() / width).is_multiple_of(8) => bits_in_cells(sorted, out, width),
            _ => out.copy_from_slice(sorted),
        }
    }
    Ok(out)
}

/// The bytes of all cells' first bytes, then of all second ones, and so on, back in cells. What is no whole cell is the end.
fn in_cells(sorted: &[u8], out: &mut [u8], width: usize) {
    let cells = out.len() / width;
    let (cells_out, rest) = out.split_at_mut(cells * width);
    // The last block may be shorter than a cell.
    for (byte, run) in sorted[..cells * width].chunks_exact(cells.max(1)).enumerate() {
        for (cell, &own) in cells_out.chunks_exact_mut(width).zip(run) {
            cell[byte] = own;
        }
    }
    rest.copy_from_slice(&sorted[cells * width..]);
}

/// The same of bits, eight cells of which are a byte.
fn bits_in_cells(sorted: &[u8], out: &mut [u8], width: usize) {
    let cells = out.len() / width;
    let (cells_out, rest) = out.split_at_mut(cells * width);
    if cells > 0 {
        for (bit, run) in sorted[..cells * width].chunks_exact(cells / 8).enumerate() {
            for (eight, &own) in cells_out.chunks_exact_mut(8 * width).zip(run) {
                for (cell, bytes) in eight.chunks_exact_mut(width).enumerate() {
                    bytes[bit / 8] |= (own >> cell & 1) << (bit % 8);
                }
            }
        }
    }
    rest.copy_from_slice(&sorted[cells * width..]);
}

/// Who packed a block.
#[derive(Debug, Clone, Copy)]
enum BlockCodec {
    BloscLz,
    Lz4,
    Zlib,
    Zstandard,
}

impl BlockCodec {
    fn of(number: u8) -> Result<Self, String> {
        match number {
            0 => Ok(Self::BloscLz),
            1 => Ok(Self::Lz4),
            2 => Err("packed by Snappy in Blosc; BloscLZ, LZ4, zlib and Zstandard can be read".into()),
            3 => Ok(Self::Zlib),
            4 => Ok(Self::Zstandard),
            _ => Err(format!("packed by codec {number} of Blosc, which has none")),
        }
    }

    /// Fills `out`; None if what was packed is more, less or none.
    fn unpack(self, packed: &[u8], out: &mut [u8]) -> Option<()> {
        let written = match self {
            Self::BloscLz => blosclz(packed, out)?,
            Self::Lz4 => lz4_flex::block::decompress_into(packed, out).ok()?,
            Self::Zstandard => zstd::bulk::decompress_to_buffer(packed, out).ok()?,
            Self::Zlib => {
                let mut zlib = Decompress::new(true);
                let status = zlib.decompress(packed, out, FlushDecompress::Finish).ok()?;
                if status != Status::StreamEnd {
                    return None;
                }
                zlib.total_out() as usize
            }
        };
        (written == out.len()).then_some(())
    }
}

/// BloscLZ: runs of bytes as they are, and copies of what came before.
fn blosclz(mut packed: &[u8], out: &mut [u8]) -> Option<usize> {
    /// Copies of what lies farther back have their distance in two bytes more.
    const FAR: usize = 8191;
    fn byte(packed: &mut &[u8]) -> Option<usize> {
        Some(usize::from(*packed.split_off_first()?))
    }
    let mut at = 0;
    let mut control = byte(&mut packed)? & 31;
    loop {
        if control < 32 {
            let run = packed.split_off(..control + 1)?;
            out.get_mut(at..at + run.len())?.copy_from_slice(run);
            at += run.len();
        } else {
            let mut length = (control >> 5) - 1;
            let high = (control & 31) << 8;
            if length == 6 {
                loop {
                    let more = byte(&mut packed)?;
                    length += more;
                    if more != 255 {
                        break;
                    }
                }
            }
            let low = byte(&mut packed)?;
            let distance = match low {
                255 if high == 31 << 8 => FAR + (byte(&mut packed)? << 8) + byte(&mut packed)? + 1,
                _ => high + low + 1,
            };
            let from = at.checked_sub(distance)?;
            // It may reach into what it copies.
            for step in 0..length + 3 {
                *out.get_mut(at + step)? = out[from + step];
            }
            at += length + 3;
        }
        if packed.is_empty() {
            return Some(at);
        }
        control = byte(&mut packed)?;
    }
}
