//! Points in files: tables of text, PLY, `.npy`, E57, and LAS with the feature `las`.
//!
//! The readers of tables, PLY and `.npy` are our own, as those of meshes: they say where a file is wrong. A file is read as a whole; counts in it are compared
//! with its bytes and never believed.

mod columns;
mod e57;
mod file;
mod foreign;
mod format;
#[cfg_attr(not(feature = "las"), path = "las_absent.rs")]
mod las;
mod npy;
mod ply;
mod rows;
mod stream;
mod table;

pub use file::PointsFile;
pub use format::PointsFormat;
pub use stream::PointsStream;
