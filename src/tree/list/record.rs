//! An entry of a list as it is sorted.

use rayon::prelude::*;

/// An entry: the code of its region on the last level, the place of its cell in a region, and its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellRecord {
    pub(super) code: u64,
    /// In the region of the code; once the list is divided, in the leaf.
    pub(super) place: u64,
    pub(super) word: u64,
}

impl CellRecord {
    /// Bytes in memory.
    pub(super) const BYTES: u64 = size_of::<Self>() as u64;

    /// Sorts entries in their own place, by all threads. Two entries of one cell, if there are any, are returned.
    ///
    /// This knows no number of axes: a sort is much code, and is compiled once.
    pub(super) fn sort(records: &mut [Self]) -> Option<[Self; 2]> {
        records.par_sort_unstable_by_key(|record| (record.code, record.place));
        let twice = records.windows(2).find(|two| (two[0].code, two[0].place) == (two[1].code, two[1].place));
        twice.map(|two| [two[0], two[1]])
    }

    /// Puts the entries of one leaf into the order of their places.
    pub(super) fn sort_places(records: &mut [Self]) {
        records.sort_unstable_by_key(|record| record.place);
    }
}
