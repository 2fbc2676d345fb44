//! PLY: a header of text, then elements one after the other, as text or binary. Meshes and points are read of them.

mod header;
mod numbers;

pub(super) use header::{PlyElement, PlyHeader, PlyProperty, PlyType};
pub(super) use numbers::{PlyNumber, PlyNumbers};
