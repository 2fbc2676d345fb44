//! The header of a list: what a file says before its entries, and how it hands those out.

use orthant::CellType;
use orthant::tree::ListError;

/// What is done with an entry: its cell, axis 0 first, and the word of its value.
pub type OnEntry<'e> = dyn FnMut(&[u32], u64) -> Result<(), ListError> + 'e;

/// What is known of a list before its entries are read.
#[derive(Debug, Clone)]
pub(super) struct ListHeader {
    pub(super) axes: usize,
    pub(super) kind: CellType,
    /// Cells per axis, of a matrix.
    pub(super) size: Option<Vec<u32>>,
    /// Entries; those that a symmetric matrix leaves out do not count.
    pub(super) count: u64,
}
