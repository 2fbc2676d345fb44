//! Meshes in files: STL, OBJ, PLY and OFF.
//!
//! The readers are our own. Crates for these formats do not say where a file is wrong, and bring a parser generator or a hash
//! (docs/design.md, 131). A file is read as a whole; counts in it are compared with its bytes and never believed.

mod faces;
mod format;
mod obj;
mod off;
mod ply;
mod stl;

pub use format::MeshFormat;
