//! The extension module of the Python package `pyorthant`.
//!
//! Python sees trees and runs as classes whose number of dimensions is a number: it becomes a type in `tree.rs`, `build.rs` and
//! `run.rs`, by `with_dimensions!`. Arrays go in and out by addresses, which `memory.rs` alone turns into slices; tables go out
//! by Arrow's C interface in `arrow.rs`. `device.rs` has runs whose cells stay on a GPU, and `dlpack.rs` lends these cells.
//! `remote.rs` reads what a server has. What is Python's own (indexing, pictures, tables) is written in Python, in the folder
//! `pyorthant`.

#![deny(unsafe_code)]

mod array;
mod arrow;
mod build;
mod device;
mod dlpack;
mod error;
mod field;
mod finished;
mod memory;
mod options;
mod points;
mod program;
mod regions;
mod remote;
mod run;
mod tree;
mod values;
mod watch;

#[global_allocator]
static MEMORY: orthant_cli::Memory = orthant_cli::Memory;

/// What the package is made of. Use `pyorthant` instead.
#[pyo3::pymodule]
mod _core {
    #[pymodule_export]
    use crate::build::{build_array, build_file, open_store, open_tree, open_url};
    #[pymodule_export]
    use crate::device::leave;
    #[pymodule_export]
    use crate::finished::CoreRun;
    #[pymodule_export]
    use crate::memory::Cells;
    #[pymodule_export]
    use crate::options::{choices, fields};
    #[pymodule_export]
    use crate::points::build_points;
    #[pymodule_export]
    use crate::program::{main, provoke_panic};
    #[pymodule_export]
    use crate::run::{run_array, run_callable, run_field};
    #[pymodule_export]
    use crate::tree::CoreTree;

    /// Whether `s3://` is read without other packages.
    #[pymodule_export]
    const CLOUD: bool = cfg!(feature = "cloud");

    /// The version of the library.
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}
