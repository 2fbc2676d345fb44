//! Trees and arrays as files that other programs open.
//!
//! A file per format. Each takes [`Boxes`], which are asked for a box at a time, so that no dense array is made on the way; each has a
//! `check`, which says before any work what the format cannot hold. Where cells lie in space follows from the domain: axis j
//! begins at the lower end of the window, and a cell is the window over the size.
//!
//! | | dimensions | opens in |
//! |---|---|---|
//! | [`npy`] | 1 to 8 | NumPy |
//! | [`zarr`] | 1 to 8 | zarr-python, xarray, TensorStore, zarrs |
//! | [`vti`] | 2, 3 | ParaView, VTK, PyVista |
//! | [`htg`] | 2, 3 | ParaView, VTK |
//! | [`vtu`] | 2, 3 | ParaView, VTK, PyVista, meshio |
//! | [`nvdb`] | 3 | Blender, Houdini, NanoVDB on GPUs |
//! | `vtkhdf` (feature `hdf5`) | 2, 3; 4 as steps of time | ParaView, VTK |
//!
//! ```
//! use orthant_formats::export;
//! use orthant::prelude::*;
//! use orthant::field;
//! use orthant::field::FieldOptions;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let plan = Plan::builder([64, 64])
//!     .window([[-1.5, 0.5], [-1.0, 1.0]])
//!     .sample(Sample::Centre)
//!     .scheme(Scheme::uniform(4, 2, 4))
//!     .rule(RuleKind::Full)
//!     .build()?;
//! let mandelbrot = field::mandelbrot::open(plan.domain(), &FieldOptions::default())?;
//! let tree = Tree::of(Run::new(&plan, &*mandelbrot).how(How::default().keep(Keep::Regions)).start()?)?;
//! let mut file = Vec::new();
//! export::vti::write(&tree, &mut file)?;
//! assert!(file.starts_with(b"<?xml"));
//! # Ok(())
//! # }
//! ```

mod boxes;
mod error;
mod format;
pub mod htg;
mod hyper_tree;
mod hyper_tree_grid;
pub mod npy;
pub mod nvdb;
mod read_box;
mod slabs;
pub mod vti;
mod vtk;
#[cfg(feature = "hdf5")]
pub mod vtkhdf;
pub mod vtu;
pub mod zarr;

pub use boxes::{Boxes, Cutout};
pub use error::ExportError;
pub use format::ExportFormat;
