//! The rows of a tree and the words in them, whatever its number of dimensions.

use std::ops::Range;

use crate::result::Cells;
use crate::tree::entries::Entries;
use crate::tree::stored::Tree;

/// The rows of a tree.
pub(super) trait TreeRows: Sync {
    /// Terminal regions.
    fn entries(&self) -> &Entries;

    /// Cells of leaves.
    fn bricks(&self) -> &Cells;

    /// True of the tree of a list, whose leaves have no bricks.
    fn is_list(&self) -> bool;

    /// Cells of a region of each level; None where not all have as many, or 64 bits do not hold them.
    fn volumes(&self) -> Vec<Option<u64>>;

    /// Cells of a row.
    fn volume(&self, row: usize) -> u128;

    /// Takes the words of some rows in the order of their cells, each with how often it comes in a row.
    fn words(&self, rows: Range<usize>, take: &mut dyn FnMut(u64, u128));
}

impl<const K: usize> TreeRows for Tree<K> {
    fn entries(&self) -> &Entries {
        &self.entries
    }

    fn bricks(&self) -> &Cells {
        &self.bricks
    }

    fn is_list(&self) -> bool {
        self.list.is_some()
    }

    fn volumes(&self) -> Vec<Option<u64>> {
        let mut volumes = Vec::new();
        for level in self.plan().levels() {
            // A number that is too large for 64 bits is the largest one.
            volumes.push(level.volume().filter(|&volume| volume < u64::MAX));
        }
        volumes
    }

    fn volume(&self, row: usize) -> u128 {
        self.region(row).cells().cells_wide()
    }

    fn words(&self, rows: Range<usize>, take: &mut dyn FnMut(u64, u128)) {
        for row in rows {
            self.runs(row).for_each(|(word, cells)| take(word, cells));
        }
    }
}
