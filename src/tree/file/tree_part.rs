//! A tree as files take it and give it, however many axes it has.

use std::ops::Range;

use crate::result::{Cells, RegionsChecksum};
use crate::tree::entries::Entries;
use crate::tree::list::ListedCells;
use crate::tree::stored::Tree;

/// A tree, which may be partial.
pub(super) trait TreePart: Sync {
    fn axes(&self) -> usize;
    /// The codes of the deepest level that it covers.
    fn codes(&self) -> Range<u128>;
    fn entries(&self) -> &Entries;
    fn bricks(&self) -> &Cells;
    /// Of the tree of a list the cells of its leaves.
    fn list(&self) -> Option<&ListedCells>;
    /// Appends the coordinates of a row's region on its level to the lists of all axes.
    fn put_coords(&self, row: usize, axes: &mut [Vec<u32>]);
    /// The cells of a row's region; the largest number where 64 bits do not hold it.
    fn volume(&self, row: usize) -> u64;
    /// The same, of which 64 bits are too few.
    fn volume_wide(&self, row: usize) -> u128;
    fn checksum_of(&self, rows: Range<usize>) -> RegionsChecksum;
}

impl<const K: usize> TreePart for Tree<K> {
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
}

impl dyn TreePart + '_ {
    /// Where the cells of a leaf are: in the bricks, or among the entries of a list.
    pub(super) fn cells_of(&self, row: usize) -> Range<usize> {
        let (_, number) = self.entries().leaf_or_word(row);
        match self.list() {
            Some(list) => list.range(number as usize),
            None => number as usize..number as usize + self.volume(row) as usize,
        }
    }
}
