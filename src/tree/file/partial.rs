//! Shards that a server has, with the bricks that meet a box alone.
//!
//! A shard has some 2^25 cells, of which a box or a slice needs few. Rows are read as always: they are few bytes. Of the cells only those
//! chunks are, in which a brick lies that meets the box.
//!
//! A shard's checksum is one of all its bricks, so that it says nothing of some. Every chunk is under a checksum of its own, which says
//! that it is what was written, but not when. So this is done of a zip alone: it is one object, and all ranges are of one state of it.

use std::collections::BTreeSet;
use std::ops::{ControlFlow, Range};

use crate::dimension::here;
use crate::geometry::Region;
use crate::result::Cells;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::reader::TreeFile;
use crate::tree::stored::Tree;

impl<const K: usize> TreeFile<K> {
    /// Reads a part with at least the bricks that meet a box, and says if it has all; None if no cells need be left out.
    pub(super) fn read_partly(&self, part: usize, window: &Region<K>) -> Result<Option<(Tree<K>, bool)>, TreeError> {
        here!(fn(&TreeFile<K>, usize, &Region<K>) -> Result<Option<(Tree<K>, bool)>, TreeError> =
            |this, part, window| this.read_partly_here(part, window))(self, part, window)
    }

    fn read_partly_here(&self, part: usize, window: &Region<K>) -> Result<Option<(Tree<K>, bool)>, TreeError> {
        let (shard, held) = self.shard_of(part);
        let Some(array) = self.stored.sparse_cells(shard)? else { return Ok(None) };
        let (columns, _) = self.stored.shard(shard, false)?;
        let (keys, entries) = self.entries(part, &columns)?;
        let bricks = Cells::zeroed(self.kind(), held.cells as usize)?;
        let mut tree = Tree::tiled(self.along.clone(), keys, entries, bricks)?;
        let each = array.chunk_elements();
        let mut needed = BTreeSet::new();
        let _ = tree.meet(window, &mut |region, _| {
            if let Some(Range { start, end }) = region.brick() {
                needed.extend(start as u64 / each..(end as u64).div_ceil(each));
            }
            ControlFlow::Continue(())
        });
        let chunks = held.cells.div_ceil(each);
        // Then the rest is worth the certainty that a checksum over all of it gives.
        let all = needed.len() as u64 > chunks / 2;
        if all {
            needed = (0..chunks).collect();
        }
        let runs = runs(needed);
        let read = |i: usize| -> Result<Vec<u8>, TreeFileError> {
            let Range { start, end } = runs[i];
            let mut bytes = Vec::new();
            array.at_hand(start..end)?.elements(start * each..held.cells.min(end * each), &mut bytes)?;
            Ok(bytes)
        };
        for (run, bytes) in runs.iter().zip(self.stored.store.each(runs.len(), &read)?) {
            tree.bricks.store((run.start * each) as usize, &bytes);
        }
        if all {
            self.check(part, &tree)?;
        }
        Ok(Some((tree, all)))
    }
}

/// Numbers that follow each other, as runs of at most 64: what one task reads.
fn runs(numbers: BTreeSet<u64>) -> Vec<Range<u64>> {
    let mut runs: Vec<Range<u64>> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some(run) if run.end == number && run.end - run.start < 64 => run.end += 1,
            _ => runs.push(number..number + 1),
        }
    }
    runs
}

#[cfg(test)]
mod tests;
