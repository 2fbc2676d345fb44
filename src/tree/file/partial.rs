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
use crate::tree::file::stored_shards::StoredShards;
use crate::tree::stored::Tree;
use crate::zarr::ShardReader;

impl<const K: usize> TreeFile<K> {
    /// Reads a part with at least the bricks that meet a box, and says if it has all; None if no cells need be left out.
    pub(super) fn read_partly(&self, part: usize, window: &Region<K>) -> Result<Option<(Tree<K>, bool)>, TreeError> {
        here!(fn(&TreeFile<K>, usize, &Region<K>) -> Result<Option<(Tree<K>, bool)>, TreeError> =
            |this, part, window| this.read_partly_here(part, window))(self, part, window)
    }

    fn read_partly_here(&self, part: usize, window: &Region<K>) -> Result<Option<(Tree<K>, bool)>, TreeError> {
        let (shard, held) = self.stored.shard_of(part);
        let Some(array) = self.stored.sparse_cells(shard)? else { return Ok(None) };
        let (columns, _) = self.stored.shard(shard, false)?;
        let (keys, entries) = self.stored.entries(part, &self.along, &columns)?;
        let bricks = Cells::zeroed(self.kind(), held.cells as usize)?;
        let mut tree = Tree::tiled(self.along.clone(), keys, entries, bricks)?;
        let mut needed = NeededChunks { each: array.chunk_elements(), cells: held.cells, numbers: BTreeSet::new() };
        let _ = tree.meet(window, &mut |region, _| {
            needed.add(region.brick());
            ControlFlow::Continue(())
        });
        let all = needed.read(&self.stored, &array, &mut tree.bricks)?;
        if all {
            self.stored.check(part, tree.checksum())?;
        }
        Ok(Some((tree, all)))
    }
}

/// The chunks of a shard's cells that are needed.
struct NeededChunks {
    /// Cells of a chunk.
    each: u64,
    /// Cells of the shard.
    cells: u64,
    numbers: BTreeSet<u64>,
}

impl NeededChunks {
    /// Those of a brick, if there is one.
    fn add(&mut self, brick: Option<Range<usize>>) {
        if let Some(Range { start, end }) = brick {
            self.numbers.extend(start as u64 / self.each..(end as u64).div_ceil(self.each));
        }
    }

    /// Reads them, and says if that is all of them.
    fn read(self, stored: &StoredShards, array: &ShardReader, bricks: &mut Cells) -> Result<bool, TreeError> {
        let Self { each, cells, mut numbers } = self;
        let chunks = cells.div_ceil(each);
        // Then the rest is worth the certainty that a checksum over all of it gives.
        let all = numbers.len() as u64 > chunks / 2;
        if all {
            numbers = (0..chunks).collect();
        }
        let runs = runs(numbers);
        let read = |i: usize| -> Result<Vec<u8>, TreeFileError> {
            let Range { start, end } = runs[i];
            let mut bytes = Vec::new();
            array.at_hand(start..end)?.elements(start * each..cells.min(end * each), &mut bytes)?;
            Ok(bytes)
        };
        for (run, bytes) in runs.iter().zip(stored.store.each(runs.len(), &read)?) {
            bricks.store((run.start * each) as usize, &bytes);
        }
        Ok(all)
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
