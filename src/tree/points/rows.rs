//! Rows of regions, however many axes they have: bricks are made by one code for all.

use crate::memory::Refused;
use crate::tree::along::Along;
use crate::tree::piece::Piece;
use crate::tree::points::gaps;
use crate::tree::predicate::Uniform;

/// What makes the rows of a piece from codes of the last level.
pub(super) trait RegionRows: Sync {
    /// The cells of every region of the last level, if all have as many.
    fn volume_of_all(&self) -> Option<u64>;

    /// The cells of one.
    fn volume(&self, code: u64) -> u64;

    /// Covers codes from the first to the last, both included, with uniform regions of 0.
    fn gap(&self, piece: &mut Piece, first: u64, last: u64);

    /// A leaf whose brick begins at a cell.
    fn leaf(&self, piece: &mut Piece, code: u64, place: u64);

    /// A region of one value.
    fn uniform(&self, piece: &mut Piece, code: u64, word: u64);

    /// The rows of another piece, whose bricks are `by` cells further on here.
    ///
    /// # Errors
    /// If there is no memory for them.
    fn append(&self, piece: &mut Piece, next: &Piece, by: u64) -> Result<(), Refused>;
}

impl<const K: usize> RegionRows for Along<K> {
    fn volume_of_all(&self) -> Option<u64> {
        self.plan().levels()[self.deepest() as usize].volume()
    }

    fn volume(&self, code: u64) -> u64 {
        self.plan().region(self.deepest(), code).volume()
    }

    fn gap(&self, piece: &mut Piece, first: u64, last: u64) {
        gaps::fill(piece, self, first, last);
    }

    fn leaf(&self, piece: &mut Piece, code: u64, place: u64) {
        piece.leaf(self, self.deepest(), code, place);
    }

    fn uniform(&self, piece: &mut Piece, code: u64, word: u64) {
        piece.uniform(self, self.deepest(), code, Uniform::exact(word));
    }

    fn append(&self, piece: &mut Piece, next: &Piece, by: u64) -> Result<(), Refused> {
        piece.append_rows(self, next, by)
    }
}
