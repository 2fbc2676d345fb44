//! Blocks along the curve that threads read side by side, however many axes they have.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use crate::backend::Control;
use crate::parallel::{self, Spare};
use crate::result::Cells;
use crate::tree::error::TreeError;
use crate::tree::piece::Piece;

/// Blocks per thread whose regions wait to be put one after the other.
const WAVE: usize = 8;

/// What the threads share that read the blocks of a wave.
pub(super) struct Reading<'c> {
    pub(super) control: &'c Control,
    /// Bytes of the piece, and of the large leaves that all threads together add to it.
    pub(super) held: AtomicU64,
}

/// Blocks along the curve: those of a wave are read by all threads, and then appended.
pub(super) struct BlockWaves<'c> {
    /// The codes of their regions.
    pub(super) codes: Range<u128>,
    /// Regions that a thread reads one after the other.
    pub(super) each: u128,
    pub(super) control: &'c Control,
}

/// Reads what lies below some codes.
pub(super) type ReadBlocks<'r> = dyn Fn(Range<u128>, &mut Cells, &Reading<'_>) -> Result<Piece, TreeError> + Sync + 'r;

impl BlockWaves<'_> {
    /// Reads all blocks, and appends each to those before it.
    pub(super) fn read(
        &self,
        piece: &mut Piece,
        blocks: &ReadBlocks<'_>,
        append: &mut dyn FnMut(&mut Piece, Piece) -> Result<(), TreeError>,
    ) -> Result<(), TreeError> {
        let &Self { ref codes, each, control } = self;
        let (wave, kind) = (each * (WAVE * rayon::current_num_threads()) as u128, piece.bricks.kind());
        let buffers = Spare::new();
        let mut start = codes.start;
        while start < codes.end {
            let end = codes.end.min(start + wave);
            let reading = Reading { control, held: AtomicU64::new(piece.bytes()) };
            let block = |block: usize| {
                let first = start + block as u128 * each;
                let mut buffer = buffers.take().unwrap_or_else(|| Cells::empty(kind));
                let piece = blocks(first..end.min(first + each), &mut buffer, &reading);
                buffers.give(buffer);
                piece
            };
            for next in parallel::try_map((end - start).div_ceil(each) as usize, &block)? {
                append(piece, next)?;
            }
            start = end;
        }
        Ok(())
    }
}
