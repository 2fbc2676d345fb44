//! Errors of the library as exceptions.
//!
//! The command line has one table of exit codes, and this is the same table with exceptions: what is wrong with an option or a file is a
//! `ValueError` or an `OSError`, a lack of memory is a `MemoryLimitError`, and so on. Messages name options as Python spells them.

use std::io;

use orthant::choice::ChoiceError;
use orthant::field::FieldError;
use orthant::tree::TreeError;
use orthant::{PlanError, UnknownName};
use orthant_cli::{Error, Exit};
use orthant_formats::input::InputError;
use pyo3::exceptions::{
    PyConnectionError, PyFileExistsError, PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyOSError, PyTimeoutError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;

/// What ends a call: an exception that is raised already, or an error of the library.
#[derive(Debug)]
pub(crate) enum Failure {
    /// One of Python's.
    Raised(PyErr),
    /// One of the library's, or of the program's.
    Library(Error),
    /// A value of the wrong type.
    Type(String),
    /// A value that cannot be.
    Value(String),
    /// An index that is out of bounds.
    Index(String),
    /// A bug: a panic.
    Panic(String),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// What is an error of the program is one here.
macro_rules! from_library {
    ($($T:ty),+) => { $(
        impl From<$T> for Failure {
            fn from(error: $T) -> Self {
                Self::Library(error.into())
            }
        }
    )+ };
}
from_library!(
    Error,
    orthant::Error,
    TreeError,
    InputError,
    ChoiceError,
    FieldError,
    PlanError,
    UnknownName,
    orthant::result::MaterialiseError
);

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Raised(error) => error,
            Failure::Type(text) => PyTypeError::new_err(text),
            Failure::Value(text) => PyValueError::new_err(text),
            Failure::Index(text) => PyIndexError::new_err(text),
            Failure::Panic(text) => own("OrthantError", format!("a bug of orthant, please report it: {text}")),
            Failure::Library(error) => exception(error),
        }
    }
}

/// The exception of an error.
fn exception(error: Error) -> PyErr {
    match error {
        Error::Exists { path } => {
            PyFileExistsError::new_err(format!("{} exists already; overwrite=True replaces it", path.display()))
        }
        Error::File { path, source } => file(&path.display().to_string(), &source),
        error => {
            let exit = error.exit();
            let text = text(&error);
            match exit {
                Exit::Input => PyValueError::new_err(text),
                Exit::Difference => own("DifferenceError", text),
                Exit::Unavailable => own("BackendUnavailable", text),
                Exit::Memory => own("MemoryLimitError", text),
                Exit::Signal(_) => PyKeyboardInterrupt::new_err(()),
                Exit::Done | Exit::Failed => match error {
                    Error::Library(orthant::Error::Cuda(_)) => own("CudaError", text),
                    Error::Reading(_) => PyOSError::new_err(text),
                    _ => own("OrthantError", text),
                },
            }
        }
    }
}

/// The message, in which options are spelt as in Python: without dashes before them.
fn text(error: &Error) -> String {
    match error {
        Error::Library(error) => error.to_string(),
        Error::About { error, .. } => text(error),
        error => error.to_string().replace(" --", " ").trim_start_matches('-').to_owned(),
    }
}

/// What the system says of a file, as the class that Python has for its number.
fn file(path: &str, source: &io::Error) -> PyErr {
    match (source.kind(), source.raw_os_error()) {
        (io::ErrorKind::OutOfMemory, _) => PyMemoryError::new_err(format!("{path}: {source}")),
        (_, Some(number)) => {
            let words = source.to_string();
            let words = words.split(" (os error").next().unwrap_or_default().to_owned();
            PyOSError::new_err((number, words, path.to_owned()))
        }
        // What a server says has no number; these give the class.
        (io::ErrorKind::NotFound, None) => PyOSError::new_err((2, source.to_string(), path.to_owned())),
        (io::ErrorKind::PermissionDenied, None) => PyOSError::new_err((13, source.to_string(), path.to_owned())),
        (io::ErrorKind::TimedOut, None) => PyTimeoutError::new_err(format!("{path}: {source}")),
        (io::ErrorKind::ConnectionAborted, None) => PyConnectionError::new_err(format!("{path}: {source}")),
        _ => PyOSError::new_err(format!("{path}: {source}")),
    }
}

/// One of the package's own exceptions.
fn own(name: &str, text: String) -> PyErr {
    Python::attach(|py| {
        let class = py.import("pyorthant._errors").and_then(|errors| errors.getattr(name));
        match class.and_then(|class| class.call1((text,))) {
            Ok(error) => PyErr::from_value(error),
            Err(error) => error,
        }
    })
}

/// Does something of which a panic becomes an exception.
pub(crate) fn guarded<R>(work: impl FnOnce() -> Result<R, Failure>) -> Result<R, Failure> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(panic(&*payload)))
}

/// What a panic says.
pub(crate) fn panic(payload: &(dyn std::any::Any + Send)) -> Failure {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    Failure::Panic(text.or(payload.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned())
}
