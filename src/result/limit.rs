//! Limits of memory.

use crate::bytes::Bytes;
use crate::cell::CellType;

/// What takes memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stored {
    /// The dense array.
    #[error("the dense array")]
    Dense,
    /// The dense array, which would fit, and what exploring takes beside it.
    #[error("the dense array with its tables")]
    DenseAndTables,
    /// A dense array that is made of regions.
    #[error("the dense array that is made of the regions")]
    Materialised,
    /// One layer of a dense array that is made of regions.
    #[error("a layer of the dense array")]
    Layer,
    /// Tables and terminal regions, before they are there.
    #[error("the tables and terminal regions (estimated)")]
    TablesAndTerminals,
    /// Tables, before they are there.
    #[error("the tables (estimated)")]
    Tables,
    /// The table of the next level.
    #[error("the OLT of the next level")]
    NextTable,
    /// Terminal regions and bricks of leaves.
    #[error("the list of terminal regions and leaves (at least)")]
    Terminals,
}

/// More memory than is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {}, more than the limit of {}", Bytes(*need), Bytes(u128::from(*limit)))]
pub struct MemoryError {
    /// What would be stored.
    pub what: Stored,
    /// Bytes needed.
    pub need: u128,
    /// Bytes allowed.
    pub limit: u64,
}

/// Checks that so many cells of a dense array, which are `what`, fit `limit` bytes and the address space.
///
/// # Errors
/// [`MemoryError`] with the figure.
pub fn dense_fits(what: Stored, cells: u128, kind: CellType, limit: Option<u64>) -> Result<(), MemoryError> {
    let need = cells.saturating_mul(u128::from(kind.bytes()));
    // Without a limit, what cannot be addressed still cannot be allocated.
    let limit = limit.unwrap_or(isize::MAX as u64);
    if need > u128::from(limit) { Err(MemoryError { what, need, limit }) } else { Ok(()) }
}
