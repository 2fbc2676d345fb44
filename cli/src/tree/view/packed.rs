//! Arrays packed by all threads: pieces are compressed apart from each other, and their blocks follow one another in one zlib stream
//! (RFC 1950), as pigz does it.

use adler2::Adler32;
use flate2::{Compress, Compression, FlushCompress, Status};
use rayon::prelude::*;

/// Bytes of a piece. Of the 32 KiB that deflate looks back over, a piece knows nothing at its start: that adds some tenths of a per cent.
const PIECE: usize = 1 << 20;

/// An array in the making.
#[derive(Default)]
pub(super) struct Packed {
    /// Bytes that are not packed yet.
    pub(super) raw: Vec<u8>,
    /// Blocks of deflate (RFC 1951), none of which is the last.
    pub(super) packed: Vec<u8>,
    sum: Adler32,
}

impl Packed {
    /// The stream of what was packed.
    pub(super) fn zlib(&self) -> Vec<u8> {
        // A window of 32 KiB and the usual level; then an empty block, which is the last.
        [&[0x78, 0x9c], &*self.packed, &[0x03, 0x00], &self.sum.checksum().to_be_bytes()].concat()
    }
}

/// Packs the bytes of some arrays that fill pieces, or all of them.
pub(super) fn pack(arrays: &mut [&mut Packed], all: bool) {
    let pieces = |array: &Packed| if all { array.raw.len() } else { array.raw.len() / PIECE * PIECE };
    let jobs: Vec<(usize, &[u8])> = arrays
        .iter()
        .enumerate()
        .flat_map(|(number, array)| array.raw[..pieces(array)].chunks(PIECE).map(move |piece| (number, piece)))
        .collect();
    let blocks: Vec<(usize, Vec<u8>)> = jobs
        .into_par_iter()
        .map_init(compressor, |compress, (number, piece)| (number, deflate(compress, piece)))
        .collect();
    for (number, blocks) in blocks {
        arrays[number].packed.extend_from_slice(&blocks);
    }
    for array in arrays {
        let packed = pieces(array);
        array.sum.write_slice(&array.raw[..packed]);
        array.raw.drain(..packed);
    }
}

fn compressor() -> Compress {
    Compress::new(Compression::default(), false)
}

/// The blocks of a piece, which end at a whole byte.
fn deflate(compress: &mut Compress, piece: &[u8]) -> Vec<u8> {
    compress.reset();
    let mut blocks = Vec::with_capacity(piece.len() / 4 + 64);
    loop {
        let rest = &piece[compress.total_in() as usize..];
        let status = compress.compress_vec(rest, &mut blocks, FlushCompress::Sync).expect("it is not closed");
        let is_read = compress.total_in() as usize == piece.len();
        // Room that is left says that nothing waits to be written.
        if status == Status::BufError || is_read && blocks.len() < blocks.capacity() {
            return blocks;
        }
        blocks.reserve(blocks.len().max(1 << 10));
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    /// Pieces of every kind come out of any reader of zlib, checksum included.
    #[test]
    fn streams_are_zlib() {
        let noise = |i: usize| (i.wrapping_mul(0x9e37_79b9) >> 11) as u8;
        for length in [0, 1, 1000, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 17] {
            for (what, byte) in
                [("noise", &noise as &dyn Fn(usize) -> u8), ("runs", &|i| (i / 5000) as u8), ("zeros", &|_| 0)]
            {
                let bytes: Vec<u8> = (0..length).map(byte).collect();
                let mut arrays = [Packed::default(), Packed::default()];
                for some in bytes.chunks(700_000) {
                    arrays[1].raw.extend_from_slice(some);
                    pack(&mut arrays.each_mut(), false);
                }
                pack(&mut arrays.each_mut(), true);
                let mut found = Vec::new();
                flate2::read::ZlibDecoder::new(&*arrays[1].zlib()).read_to_end(&mut found).unwrap();
                assert!(found == bytes, "{length} bytes of {what}");
            }
        }
    }
}
