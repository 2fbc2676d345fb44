//! Meshes as fields: cells inside of a closed surface, or cells that a surface meets.
//!
//! Everything is decided once, when the field is opened, row by row along axis 0: where a row enters and leaves the set of
//! cells. There are about n² such places, as there are cells at the surface, so that neither time nor memory grows with the
//! volume. A cell is then looked up in its row, and a region is uniform if no row changes in it, which is a complete proof.
//! A tree of the triangles (which the notes on sparse data propose) would prove less, and leaves would still need rows.

mod crossing;
mod field;
mod lattice;
mod overlap;
mod rows;
#[cfg(test)]
mod tests;

pub use field::open;
pub(crate) use field::{ABOUT, defaults};
