//! Surfaces of triangles in three dimensions: what a file of a mesh holds.

mod definition;
mod edges;
mod error;
mod shapes;

pub use definition::Mesh;
pub use edges::MeshEdges;
pub use error::MeshError;
