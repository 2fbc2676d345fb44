//! An entry of a list as it is sorted.

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
}
