//! The CUDA backend of a build without it: the same names, and an error that says so.

use std::convert::Infallible;
use std::path::PathBuf;

pub use crate::backend::CudaError;
use crate::backend::{
    Backend, Balanced, Balances, Balancing, DeviceFacts, Error, How, Place, Prepared, Sampler, SealedBackend,
};
use crate::field::Field;
use crate::geometry::{Domain, SampleGrid};
use crate::plan::Plan;

/// A GPU that this build cannot open.
#[derive(Debug)]
pub struct Device(Infallible);

/// Which GPU.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DeviceOptions {
    /// The GPU's number.
    pub ordinal: usize,
    /// Where NVRTC would be looked for.
    pub nvrtc: Vec<PathBuf>,
}

impl DeviceOptions {
    /// Nothing to look for.
    pub fn from_env(ordinal: usize) -> Self {
        Self { ordinal, nvrtc: Vec::new() }
    }
}

impl Device {
    /// Fails.
    ///
    /// # Errors
    /// [`CudaError::NotBuilt`].
    pub fn open(_: &DeviceOptions) -> Result<Self, CudaError> {
        Err(CudaError::NotBuilt)
    }

    /// Fails.
    ///
    /// # Errors
    /// [`CudaError::NotBuilt`].
    pub fn count() -> Result<usize, CudaError> {
        Err(CudaError::NotBuilt)
    }

    /// Cannot be called: there is no device.
    pub fn describe(&self) -> String {
        match self.0 {}
    }
}

impl SealedBackend for Device {}

impl Place for Device {
    fn name(&self) -> &'static str {
        match self.0 {}
    }
    fn device(&self) -> Option<&str> {
        match self.0 {}
    }
    fn multiprocessors(&self) -> Option<[u32; 2]> {
        match self.0 {}
    }
    fn facts(&self) -> Option<DeviceFacts> {
        match self.0 {}
    }
    fn second(&mut self) -> Result<Option<Self>, Error> {
        match self.0 {}
    }
}

impl Balances for Device {
    fn balance(&self, _: &Balancing<'_>) -> Result<Balanced, Error> {
        match self.0 {}
    }
}

impl<const K: usize> Backend<K> for Device {
    fn sample<'a>(
        &'a self,
        _: &Domain<K>,
        _: &'a dyn Field<K>,
        _: SampleGrid<K>,
        _: &How,
    ) -> Result<Sampler<'a>, Error> {
        match self.0 {}
    }
    fn prepare<'a>(&'a self, _: &Plan<K>, _: &'a dyn Field<K>, _: &How) -> Result<Box<dyn Prepared<K> + 'a>, Error> {
        match self.0 {}
    }
}

/// Nothing but that this build has no CUDA.
pub fn findings() -> Vec<(&'static str, Result<String, String>)> {
    vec![("cuda", Err(CudaError::NotBuilt.to_string()))]
}
