//! Arrays in files, read where they lie, or where they were unpacked; meshes, and points.
//!
//! A file per [format](Format), which is on one list (`formats.rs`): it reads what a file says, describes where its cells are, and what
//! else is known of them.

mod described;
mod error;
mod file;
mod files;
mod format;
mod formats;
#[cfg(feature = "hdf5")]
mod hdf5;
mod label_table;
mod layout;
mod lines;
mod list;
mod matrix_market;
mod members;
mod mesh;
mod metaimage;
mod nifti;
mod npy;
mod npz;
mod nrrd;
mod numbers;
mod ply;
mod points;
mod reader;
mod slices;
mod text;
mod tiff;
mod zarr;

pub use error::{FilePlace, InputError, InputFault};
pub use file::{ArrayFile, FileSource};
pub use format::{Access, Format};
#[cfg(feature = "hdf5")]
#[doc(hidden)]
pub use hdf5::rows_at_once;
pub use label_table::LabelTable;
pub use layout::Layout;
pub use list::{ListFile, OnEntry};
pub use matrix_market::matrix_rows;
pub use members::Identity;
pub use mesh::MeshFormat;
pub use numbers::Numbers;
pub use orthant::tree::{About, AboutAxis, NotANumber, Remark};
pub use orthant::{Endian, IndexOrder};
pub use points::{PointsFile, PointsFormat, PointsStream};
