//! What a coarse sample of a field says of the levels of any scheme: P per level, and the work of its cells.
//!
//! Cells on a grid through the whole domain are evaluated once; then every region of 1, 2, 4, .. per axis that is at
//! least two of them wide is judged by the plan's own rule on those cells alone. How much a level costs depends on which
//! regions are still examined there, so what is asked for is always the mean over the regions of level i below the mixed
//! ones of level j. Below the finest level that the sample resolves, P follows the box dimension that its last step
//! shows, P_i = r^(d−k), and the work of cells goes on as it went on that step. Where proofs decide alone, every level is sampled.
//! Lattices whose axes are split unequally take
//! the P of one with as many regions, times what a boundary of that dimension meets more of them.

mod coarse;
mod descent;
mod judge;
mod proofs;
mod share;

pub use self::coarse::{Coarse, Explore};
pub(super) use self::descent::Descent;
