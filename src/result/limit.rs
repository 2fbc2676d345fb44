//! Limits of memory.

use crate::bytes::Bytes;
use crate::result::cells::CellType;

/// More memory than is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {}, more than the limit of {}", Bytes(*need), Bytes(u128::from(*limit)))]
pub struct MemoryError {
    /// What would be stored.
    pub what: &'static str,
    /// Bytes needed.
    pub need: u128,
    /// Bytes allowed.
    pub limit: u64,
}

/// Checks that a dense array fits `limit` bytes and the address space.
///
/// # Errors
/// [`MemoryError`] with the figure.
pub fn dense_fits(cells: u128, kind: CellType, limit: Option<u64>) -> Result<(), MemoryError> {
    let need = cells.saturating_mul(u128::from(kind.bytes()));
    // Without a limit, what cannot be addressed still cannot be allocated.
    let limit = limit.unwrap_or(isize::MAX as u64);
    if need > u128::from(limit) { Err(MemoryError { what: "the dense array", need, limit }) } else { Ok(()) }
}
