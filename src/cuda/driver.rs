//! Is there a driver, and a GPU? Asked without ever panicking.
#![allow(unsafe_code)]

use std::panic::catch_unwind;

use cudarc::driver::{CudaContext, DriverError, sys};

use crate::backend::CudaError;

/// The oldest CUDA that the driver may have: the one of the bindings.
const CUDA: i32 = 13000;

/// A driver that can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driver {
    /// Its CUDA version: major, minor.
    pub version: (i32, i32),
    /// GPUs it sees, at least one.
    pub devices: usize,
}

impl Driver {
    /// Looks for a driver.
    ///
    /// # Errors
    /// [`CudaError`]: none, a stub, too old, no GPU, or one that refuses to start.
    pub fn find() -> Result<Self, CudaError> {
        // A symbol that the library lacks panics: such a driver is older than any that is supported.
        quietly(Self::look).unwrap_or(Err(CudaError::Unusable {
            what: "the CUDA driver lacks functions",
            text: "it is too old; update to 580 or newer".into(),
        }))
    }

    fn look() -> Result<Self, CudaError> {
        let unusable = |what, error: DriverError| CudaError::Unusable { what, text: words(&error) };
        // SAFETY: only tries to open the library.
        if !unsafe { sys::is_culib_present() } {
            return Err(CudaError::NoDriver);
        }
        let mut version = 0;
        // SAFETY: writes one integer; needs no initialisation.
        let asked = unsafe { sys::cuDriverGetVersion(&mut version) }.result();
        asked.map_err(|error| unusable("asking the CUDA driver for its version", error))?;
        let found = (version / 1000, version % 1000 / 10);
        // A stub knows its version, but initialising it fails; ask an old driver for nothing that it may not have.
        let devices = match CudaContext::device_count() {
            Err(DriverError(sys::CUresult::CUDA_ERROR_STUB_LIBRARY)) => Err(CudaError::StubDriver),
            _ if version < CUDA => Err(CudaError::OldDriver { major: found.0, minor: found.1 }),
            Err(DriverError(sys::CUresult::CUDA_ERROR_NO_DEVICE)) | Ok(0) => Err(CudaError::NoDevice),
            Err(error) => Err(unusable("initialising the CUDA driver", error)),
            Ok(devices) => Ok(devices as usize),
        }?;
        Ok(Self { version: found, devices })
    }
}

/// What `probe` finds; None if it panics, which the bindings do where a library or a symbol is missing. Nothing is printed.
pub(super) fn quietly<T>(probe: impl FnOnce() -> T + std::panic::UnwindSafe) -> Option<T> {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let found = catch_unwind(probe);
    std::panic::set_hook(hook);
    found.ok()
}

/// A failed call in words.
pub(super) fn refused(what: &'static str, error: DriverError) -> CudaError {
    CudaError::Call { what, text: words(&error) }
}

/// CUDA's name and text of an error.
pub(super) fn words(error: &DriverError) -> String {
    let text = |text: Result<&std::ffi::CStr, DriverError>| text.ok().map(|t| t.to_string_lossy().into_owned());
    match (text(error.error_name()), text(error.error_string())) {
        (Some(name), Some(text)) => format!("{name}: {text}"),
        _ => format!("CUDA error {}", error.0 as u32),
    }
}
