//! The command line.

use std::ffi::OsString;
use std::io::Write;

use pyo3::prelude::*;

use crate::error::{Failure, guarded};

/// Does what a command line says, the program's name first, and returns the exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<OsString>) -> PyResult<u8> {
    let code = py.detach(|| {
        guarded(|| {
            let exit = orthant_cli::end(arguments);
            // Nobody else does it when the interpreter ends. If stdout is closed, the program said so.
            let _ = std::io::stdout().flush();
            Ok::<_, Failure>(exit.code())
        })
    })?;
    Ok(code)
}

/// Panics: for a test that a panic becomes an exception.
#[pyfunction]
pub(crate) fn provoke_panic(py: Python<'_>) -> PyResult<()> {
    Ok(py.detach(|| guarded(|| -> Result<(), Failure> { panic!("provoked by a test") }))?)
}
