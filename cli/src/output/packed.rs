//! Arrays packed by all threads: pieces are compressed apart from each other, and their blocks follow one another in one zlib stream
//! (RFC 1950), as pigz does it.

use flate2::{Compress, Compression, FlushCompress, Status};
use rayon::prelude::*;

/// Bytes of a piece. Of the 32 KiB that deflate looks back over, a piece knows nothing at its start: that adds some tenths of a per cent.
const PIECE: usize = 1 << 20;

/// What a stream begins with: a window of 32 KiB and the usual level.
pub const HEADER: [u8; 2] = [0x78, 0x9c];

/// An array in the making.
#[derive(Default)]
pub struct Packed {
    /// Bytes that are not packed yet.
    pub raw: Vec<u8>,
    /// Blocks of deflate (RFC 1951), none of which is the last.
    pub packed: Vec<u8>,
    level: Compression,
    sum: Sum,
}

impl Packed {
    /// At another level than the usual one.
    pub fn at(level: u32) -> Self {
        Self { level: Compression::new(level), ..Self::default() }
    }

    /// Packs bytes, and keeps none of them.
    pub fn push(&mut self, bytes: &[u8]) {
        let jobs = bytes.chunks(PIECE).map(|piece| (0, self.level, piece)).collect();
        packed(jobs).iter().for_each(|(_, blocks)| self.add(blocks));
    }

    fn add(&mut self, blocks: &Blocks) {
        self.packed.extend_from_slice(&blocks.bytes);
        self.sum = self.sum.then(blocks.sum, blocks.len);
    }

    /// The stream of what was packed.
    pub fn zlib(&self) -> Vec<u8> {
        [&HEADER, &*self.packed, &self.end()].concat()
    }

    /// What a stream ends with: an empty block, which is the last, and the sum of what was packed.
    pub fn end(&self) -> [u8; 6] {
        let [a, b, c, d] = self.sum.adler32().to_be_bytes();
        [0x03, 0x00, a, b, c, d]
    }
}

/// The checksum of bytes that were added up in pieces: the two sums of Adler-32 (RFC 1950).
#[derive(Clone, Copy)]
struct Sum([u64; 2]);

impl Default for Sum {
    fn default() -> Self {
        Self([1, 0])
    }
}

impl Sum {
    const BASE: u64 = 65_521;

    fn of(piece: &[u8]) -> Self {
        let sum = adler2::adler32_slice(piece);
        Self([(sum & 0xffff).into(), (sum >> 16).into()])
    }

    /// That of these bytes and of `len` bytes behind them, of which `next` is the sum.
    fn then(self, next: Self, len: usize) -> Self {
        let ([a, b], [c, d]) = (self.0, next.0);
        // The next sums began with 1, not with ours; ours is in each of the second sums.
        let carried = (a + Self::BASE - 1) % Self::BASE;
        Self([(carried + c) % Self::BASE, (b + d + carried * (len as u64 % Self::BASE)) % Self::BASE])
    }

    fn adler32(self) -> u32 {
        (self.0[1] << 16 | self.0[0]) as u32
    }
}

/// Packs the bytes of some arrays that fill pieces, or all of them.
pub fn pack(arrays: &mut [&mut Packed], all: bool) {
    let pieces = |array: &Packed| if all { array.raw.len() } else { array.raw.len() / PIECE * PIECE };
    let jobs: Vec<Job<'_>> = arrays
        .iter()
        .enumerate()
        .flat_map(|(number, array)| {
            array.raw[..pieces(array)].chunks(PIECE).map(move |piece| (number, array.level, piece))
        })
        .collect();
    for (number, blocks) in packed(jobs) {
        arrays[number].add(&blocks);
    }
    for array in arrays {
        let packed = pieces(array);
        array.raw.drain(..packed);
    }
}

/// A piece of an array of some number, to be packed at a level.
type Job<'a> = (usize, Compression, &'a [u8]);

/// Blocks of a piece of so many bytes, and its checksum.
struct Blocks {
    bytes: Vec<u8>,
    sum: Sum,
    len: usize,
}

/// Pieces, packed by all threads, with the numbers of their arrays.
fn packed(jobs: Vec<Job<'_>>) -> Vec<(usize, Blocks)> {
    // A thread keeps its compressor while the level stays.
    let pack = |kept: &mut Option<(Compression, Compress)>, (number, level, piece): Job<'_>| {
        let (_, compress) = match kept.take_if(|(of, _)| *of == level) {
            Some(same) => kept.insert(same),
            None => kept.insert((level, Compress::new(level, false))),
        };
        (number, Blocks { bytes: deflate(compress, piece), sum: Sum::of(piece), len: piece.len() })
    };
    jobs.into_par_iter().map_init(|| None, pack).collect()
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
