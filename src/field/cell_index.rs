//! Cells in the order of the array, and how one is found among them.

use std::sync::Arc;

use crate::memory::{Refused, reserve};

/// The listed cells per bucket of a search, about: the table takes two bytes for each.
const BUCKET: u64 = 4;

/// Cells by their index, axis 0 fastest, with their words. A table of where indices begin makes a search short, which a GPU needs more than
/// a CPU.
#[derive(Debug)]
pub(super) struct CellIndex {
    pub(super) indices: Arc<Vec<u64>>,
    pub(super) words: Arc<Vec<u64>>,
    /// How many indices are below each multiple of 2^shift, up to one beyond the last cell.
    pub(super) starts: Arc<Vec<u64>>,
    pub(super) shift: u32,
}

/// How many buckets of 2^shift cells a table of so many listed cells has, and that shift. The table has an entry more.
pub(crate) fn buckets(listed: u64, cells: u64) -> (u64, u32) {
    let most = (listed / BUCKET).max(1);
    let shift = (0..63).find(|&shift| (cells - 1) >> shift < most).unwrap_or(63);
    (((cells - 1) >> shift) + 1, shift)
}

impl CellIndex {
    /// Of indices in order, among so many cells.
    ///
    /// # Errors
    /// [`Refused`] if there is no memory for the table.
    pub(super) fn new(indices: Arc<Vec<u64>>, words: Arc<Vec<u64>>, cells: u64) -> Result<Self, Refused> {
        let (buckets, shift) = buckets(indices.len() as u64, cells);
        let (mut starts, buckets) = (Vec::new(), buckets as usize);
        reserve(&mut starts, buckets + 1)?;
        for (row, index) in indices.iter().enumerate() {
            starts.resize(starts.len().max((index >> shift) as usize + 1), row as u64);
        }
        starts.resize(buckets + 1, indices.len() as u64);
        Ok(Self { indices, words, starts: starts.into(), shift })
    }

    /// The first row whose cell has this index or a later one.
    #[inline]
    pub(super) fn first_at(&self, index: u64) -> usize {
        let bucket = (index >> self.shift) as usize;
        let [start, end] = [self.starts[bucket], self.starts[bucket + 1]].map(|row| row as usize);
        start + self.indices[start..end].partition_point(|&other| other < index)
    }

    /// The word of a cell, if it is listed.
    #[inline]
    pub(super) fn word(&self, index: u64) -> Option<u64> {
        let row = self.first_at(index);
        (self.indices.get(row) == Some(&index)).then(|| self.words[row])
    }
}
