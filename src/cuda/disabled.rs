//! The CUDA backend of a build without it: the same names, and an error that says so.

pub mod error;
mod facts;

use std::convert::Infallible;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::time::Duration;

pub use error::CudaError;
pub use facts::DeviceFacts;

use crate::cpu::Control;
use crate::domain::Domain;
use crate::error::Error;
use crate::how::How;
use crate::model::sample::Lattice;
use crate::plan::Plan;
use crate::subdivision::Subdivision;
use crate::workload::Workload;

/// A GPU that this build cannot open.
#[derive(Debug)]
pub struct Device(Infallible);

/// Which GPU.
#[derive(Debug, Clone)]
pub struct DeviceOptions {
    /// The GPU's number.
    pub ordinal: usize,
    /// Where compiled kernels would be kept.
    pub cache: Option<PathBuf>,
    /// Where NVRTC would be looked for.
    pub nvrtc: Vec<PathBuf>,
    /// CUDA's device runtime library.
    pub device_runtime: Option<PathBuf>,
}

impl DeviceOptions {
    /// Nothing to look for.
    pub fn from_env(ordinal: usize) -> Self {
        Self { ordinal, cache: None, nvrtc: Vec::new(), device_runtime: None }
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

    /// Everything about it.
    pub fn describe(&self) -> String {
        match self.0 {}
    }

    /// Everything about it, for a record.
    pub fn facts(&self) -> DeviceFacts {
        match self.0 {}
    }

    /// Its name.
    pub fn name(&self) -> &str {
        match self.0 {}
    }

    /// Its multiprocessors, and the threads that each keeps in flight.
    pub fn multiprocessors(&self) -> [u32; 2] {
        match self.0 {}
    }
}

/// A plan on a GPU that there cannot be.
pub struct Session<'a, const K: usize>(Infallible, PhantomData<&'a Plan<K>>);

impl<'a, const K: usize> Session<'a, K> {
    /// Cannot be called: there is no device.
    ///
    /// # Errors
    /// Never.
    pub fn new(device: &'a Device, _: &'a Plan<K>, _: &'a dyn Workload<K>, _: &'a How) -> Result<Self, Error> {
        match device.0 {}
    }

    /// One run.
    ///
    /// # Errors
    /// Never.
    pub fn run(&mut self, _: &Control) -> Result<Duration, Error> {
        match self.0 {}
    }

    /// What the caller waited for the last run.
    pub fn wall(&self) -> Duration {
        match self.0 {}
    }

    /// The result of the last run.
    ///
    /// # Errors
    /// Never.
    pub fn finish(self) -> Result<Subdivision<K>, Error> {
        match self.0 {}
    }

    /// The counts of the last run.
    ///
    /// # Errors
    /// Never.
    pub fn summary(&self) -> Result<Subdivision<K>, Error> {
        match self.0 {}
    }
}

/// A sample on a GPU that there cannot be.
pub struct Sampler<'a, const K: usize>(Infallible, PhantomData<&'a Plan<K>>);

impl<'a, const K: usize> Sampler<'a, K> {
    /// Cannot be called: there is no device.
    ///
    /// # Errors
    /// Never.
    pub fn new(device: &'a Device, _: Lattice<K>, _: &dyn Workload<K>, _: &Domain<K>, _: &How) -> Result<Self, Error> {
        match device.0 {}
    }

    /// The labels of the lattice's cells.
    ///
    /// # Errors
    /// Never.
    pub fn labels(&mut self) -> Result<Vec<u32>, Error> {
        match self.0 {}
    }
}

/// Nothing but that this build has no CUDA.
pub fn findings() -> Vec<(&'static str, Result<String, String>)> {
    vec![("cuda", Err(CudaError::NotBuilt.to_string()))]
}

/// Cannot be called: there is no device.
///
/// # Errors
/// Never.
pub fn run<const K: usize>(
    device: &Device,
    _: &Plan<K>,
    _: &dyn Workload<K>,
    _: &How,
    _: &Control,
) -> Result<Subdivision<K>, Error> {
    match device.0 {}
}
