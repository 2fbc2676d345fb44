//! Meshes as fields: cells inside of a closed surface, cells that a surface meets, or how far a closed one is.
//!
//! Everything is decided once, when the field is opened, row by row along axis 0: where a row enters and leaves the set of
//! cells. There are about n² such places, as there are cells at the surface, so that neither time nor memory grows with the
//! volume. A cell is then looked up in its row, and a region is uniform if no row changes in it, which is a complete proof.
//! A tree of the triangles (which the notes on sparse data propose) would prove less, and leaves would still need rows.
//!
//! Of distances the triangles near each block of cells are found when the field is opened. A cell goes through those of its block, and a
//! region without any is uniform.

mod blocks;
mod by_plane;
mod crossing;
mod distance;
mod field;
mod lattice;
mod nearest;
mod overlap;
mod rows;
#[cfg(test)]
mod tests;

pub(crate) use distance::BAND;
pub use field::open;
pub(crate) use field::{ABOUT, defaults};
