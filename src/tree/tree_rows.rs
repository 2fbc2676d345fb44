//! The rows of a tree and the words in them, however many axes it has.

use std::ops::Range;

use crate::result::{Cells, RegionsChecksum};
use crate::tree::entries::Entries;
use crate::tree::list::ListedCells;
use crate::tree::stored::Tree;

/// The rows of a tree, which may be partial.
pub(super) trait TreeRows: Sync {
    /// How many axes it has.
    fn axes(&self) -> usize;

    /// The codes of the deepest level that it covers.
    fn codes(&self) -> Range<u128>;

    /// Terminal regions.
    fn entries(&self) -> &Entries;

    /// Cells of leaves.
    fn bricks(&self) -> &Cells;

    /// Of the tree of a list, whose leaves have no bricks, the cells of its leaves.
    fn list(&self) -> Option<&ListedCells>;

    /// Appends the coordinates of a row's region on its level to the lists of all axes.
    fn put_coords(&self, row: usize, axes: &mut [Vec<u32>]);

    /// Cells of a row; the largest number where 64 bits do not hold it.
    fn volume(&self, row: usize) -> u64;

    /// Cells of a row in 128 bits, which hold all numbers.
    fn volume_wide(&self, row: usize) -> u128;

    /// The checksum of some rows.
    fn checksum_of(&self, rows: Range<usize>) -> RegionsChecksum;

    /// Takes the words of some rows in the order of their cells, each with how often it comes in a row.
    fn words(&self, rows: Range<usize>, take: &mut dyn FnMut(u64, u128));
}

impl<const K: usize> TreeRows for Tree<K> {
    fn axes(&self) -> usize {
        K
    }

    fn codes(&self) -> Range<u128> {
        self.part.clone()
    }

    fn entries(&self) -> &Entries {
        &self.entries
    }

    fn bricks(&self) -> &Cells {
        &self.bricks
    }

    fn list(&self) -> Option<&ListedCells> {
        self.list.as_deref()
    }

    fn put_coords(&self, row: usize, axes: &mut [Vec<u32>]) {
        let region = self.region(row);
        let coords = self.plan().encoding().decode(region.level(), region.code());
        for j in 0..K {
            axes[j].push(coords[j]);
        }
    }

    fn volume(&self, row: usize) -> u64 {
        self.along.volume(self.entries.level(row), self.entries.keys[row])
    }

    fn volume_wide(&self, row: usize) -> u128 {
        self.region(row).cells().cells_wide()
    }

    fn checksum_of(&self, rows: Range<usize>) -> RegionsChecksum {
        self.checksum_of(rows)
    }

    fn words(&self, rows: Range<usize>, take: &mut dyn FnMut(u64, u128)) {
        for row in rows {
            self.runs(row).for_each(|(word, cells)| take(word, cells));
        }
    }
}

impl dyn TreeRows + '_ {
    /// Where the cells of a leaf are: in the bricks, or among the entries of a list.
    pub(super) fn leaf_range(&self, row: usize) -> Range<usize> {
        let (_, number) = self.entries().leaf_or_word(row);
        match self.list() {
            Some(list) => list.range(number as usize),
            None => number as usize..number as usize + self.volume(row) as usize,
        }
    }
}
