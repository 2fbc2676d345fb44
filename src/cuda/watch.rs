//! Waiting for a GPU, with an ear for whoever wants the run to end.
//!
//! Kernels look now and then at a word in the device's memory, and end early when it is not 0 (kernels/team.cuh). The host
//! sets it by a copy in a stream of its own, which passes the kernels by. Every wait of a run is here.

use std::thread::{sleep, yield_now};
use std::time::{Duration, Instant};

use cudarc::driver::{CudaEvent, DriverError};

use super::device::Device;
use super::driver::refused;
use super::memory::{Allocation, Buffer};
use super::pinned::Pinned;
use crate::backend::{Control, CudaError, Error};

/// Waits up to this long take all of a processor, as the driver's own do, so that short runs lose no time.
const SPIN: Duration = Duration::from_millis(10);

/// Longer ones look again after this share of the time waited, and not much later than a hand can feel.
const SHARE: u32 = 256;
const LONGEST: Duration = Duration::from_millis(5);

/// The word by which kernels learn that their run is to end. It is 0 between runs.
pub(super) struct StopFlag {
    word: Buffer,
    one: Pinned,
}

impl StopFlag {
    pub(super) fn new(device: &Device) -> Result<Self, Error> {
        let flag = Self {
            word: Buffer::new(device, "the stop flag", 4, Allocation::Pool)?,
            one: Pinned::holding(&device.context, &1u32.to_ne_bytes())?,
        };
        flag.word.set(0)?;
        device.synchronise("clearing the stop flag")?;
        Ok(flag)
    }

    /// Where kernels find it.
    pub(super) fn address(&self) -> u64 {
        self.word.address()
    }

    /// Has the kernels that run end, and waits until nothing runs.
    fn raise(&self, device: &Device) -> Result<(), CudaError> {
        self.word.receive(&self.one, &device.signals)?;
        device.quiet("ending a run")?;
        self.word.set(0)
    }
}

/// Whose word a run heeds while it waits for the device.
pub(super) struct Watch<'a> {
    pub(super) device: &'a Device,
    pub(super) control: &'a Control,
    pub(super) flag: &'a StopFlag,
}

impl Watch<'_> {
    /// Fails if the run was cancelled, when nothing of it runs any more.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; [`Error::Cuda`].
    pub(super) fn check(&self) -> Result<(), Error> {
        if let Err(interrupted) = self.control.check() {
            self.flag.raise(self.device)?;
            return Err(interrupted);
        }
        Ok(())
    }

    /// Waits for everything in the stream; `what` was done there.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub(super) fn wait(&self, what: &'static str) -> Result<(), Error> {
        self.until(what, || self.device.is_idle())
    }

    /// The same for what came before an event.
    pub(super) fn wait_for(&self, event: &CudaEvent, what: &'static str) -> Result<(), Error> {
        self.until(what, || event.try_is_complete())
    }

    fn until(&self, what: &'static str, done: impl Fn() -> Result<bool, DriverError>) -> Result<(), Error> {
        let start = Instant::now();
        while !done().map_err(|error| refused(what, error))? {
            self.check()?;
            match start.elapsed() {
                waited if waited < SPIN => yield_now(),
                waited => sleep((waited / SHARE).min(LONGEST)),
            }
        }
        Ok(())
    }
}
