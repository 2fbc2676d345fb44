//! Limits of memory.

use crate::bytes::Bytes;
use crate::cell::CellType;
use crate::memory::Refused;

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
    /// The cells of work-units, and sums of their items' sizes.
    #[error("the cells of the units")]
    Units,
    /// Tables and terminal regions, before they are there.
    #[error("the tables and terminal regions (estimated)")]
    TablesAndTerminals,
    /// Tables, before they are there.
    #[error("the tables (estimated)")]
    Tables,
    /// The table of the next level.
    #[error("the OLT of the next level")]
    NextTable,
    /// What exploring the regions of a level leaves.
    #[error("the outcomes of a level")]
    Outcomes,
    /// The regions that one is divided into.
    #[error("the children of a region")]
    Children,
    /// A coarse sample.
    #[error("the labels of a sample")]
    Sample,
    /// Terminal regions that are settled later, beside those that are.
    #[error("the list of regions that are settled later (at least)")]
    Listed,
    /// Terminal regions and bricks of leaves.
    #[error("the list of terminal regions and leaves (at least)")]
    Terminals,
    /// Points, and what is sorted of them.
    #[error("the points and their sorted list")]
    Points,
}

/// More memory than you allow, or than the system has.
///
/// ```
/// use orthant::Error;
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([1000, 1000]).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 500));
/// // The dense array alone has two million bytes. The run ends before any work.
/// match Run::new(&plan, &left).how(How::default().mem_limit(1_000_000)).start() {
///     Err(Error::Memory(error)) => assert!(error.need >= 2_000_000 && error.limit == Some(1_000_000)),
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{what} would take {}, more than {}", Bytes(*need), most(*limit))]
pub struct MemoryError {
    /// What would be stored.
    pub what: Stored,
    /// Bytes needed.
    pub need: u128,
    /// Bytes allowed; None where the system refused.
    pub limit: Option<u64>,
}

fn most(limit: Option<u64>) -> String {
    limit.map_or("there is memory for".into(), |limit| format!("the limit of {}", Bytes(limit.into())))
}

impl MemoryError {
    /// What the system refused.
    pub(crate) fn refused(what: Stored) -> impl Fn(Refused) -> Self {
        move |Refused { bytes }| Self { what, need: bytes, limit: None }
    }
}

/// Checks that so many cells of a dense array, which are `what`, fit `limit` bytes and the address space.
///
/// ```
/// use orthant::CellType;
/// use orthant::result::{Stored, dense_fits};
///
/// // 1000 cells of two bytes need 2000 bytes.
/// assert!(dense_fits(Stored::Dense, 1000, CellType::U16, Some(2000)).is_ok());
/// let refused = dense_fits(Stored::Dense, 1000, CellType::U16, Some(1999));
/// assert_eq!(refused.err().map(|error| (error.need, error.limit)), Some((2000, Some(1999))));
/// ```
///
/// # Errors
/// [`MemoryError`] with the figure.
pub fn dense_fits(what: Stored, cells: u128, kind: CellType, limit: Option<u64>) -> Result<(), MemoryError> {
    let need = cells.saturating_mul(u128::from(kind.bytes()));
    // Without a limit, what cannot be addressed still cannot be allocated.
    let limit = limit.unwrap_or(isize::MAX as u64);
    if need > u128::from(limit) { Err(MemoryError { what, need, limit: Some(limit) }) } else { Ok(()) }
}
