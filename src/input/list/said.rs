//! What a file says of its list, and how it hands out entries.

use crate::cell::CellType;
use crate::tree::ListError;

/// What is done with an entry: its cell, axis 0 first, and the word of its value.
pub type OnEntry<'e> = dyn FnMut(&[u32], u64) -> Result<(), ListError> + 'e;

/// What a file says of its list.
#[derive(Debug, Clone)]
pub(super) struct ListSaid {
    pub(super) axes: usize,
    pub(super) kind: CellType,
    /// Cells per axis, of a matrix.
    pub(super) size: Option<Vec<u32>>,
    /// Entries; those that a symmetric matrix leaves out do not count.
    pub(super) count: u64,
}
