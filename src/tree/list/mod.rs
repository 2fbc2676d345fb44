//! Trees of lists: cells with values, in a domain that may be too large for any array, and one value for all other cells.
//!
//! The list is sorted along the curve, and regions are ranges of it: one without entries is uniform, one with few is a *sparse leaf*. So
//! leaves lie on any level, and each keeps the places of its entries and their words instead of a brick.

mod builder;
mod difference;
mod divide;
mod layout;
mod list_entries;
mod listed;
mod record;
mod scattered;
mod sorted;

pub use builder::CellList;
pub(super) use difference::between;
pub(super) use divide::LEAF_CELLS;
pub use layout::ListLayout;
pub(super) use listed::{ListedCells, ListedLeaf, ListedRuns};
pub use scattered::Scattered;
pub(super) use scattered::bounds_without;
pub use sorted::SortedList;
