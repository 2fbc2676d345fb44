//! Lists of cells in files: an array of coordinates in `.npy`, a sparse matrix in `.npz` as scipy.sparse writes it, and Matrix Market.
//!
//! Entries come one after the other, as often as they are asked for; no reader holds all of them. Axis 0 of a matrix is its columns,
//! and axis 1 its rows, as in an array of NumPy.

mod file;
mod header;
mod matrix;
mod npy;
mod number;
mod scipy;

pub use file::ListFile;
pub use header::OnEntry;
