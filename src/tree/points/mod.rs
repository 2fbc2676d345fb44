//! Trees of points: sorted along the curve, regions by ranges of the sorted list.
//!
//! A point has a *key*: the code of the region of the last level that it lies in, and the place of its cell in that region. Sorted by
//! code, the points of a region follow each other, and regions without points are the gaps between codes. So the work grows with the
//! points and with the cells of the regions that have some, and not with the domain. No dense array is made on the way.

mod axis_cells;
mod bins;
mod builder;
mod gaps;
mod keys;
mod record;
mod rows;
mod runs;
mod sorted;
mod sorting;

pub use builder::FromPoints;
