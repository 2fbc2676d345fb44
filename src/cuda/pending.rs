//! How many launches from the device may be pending.

use cudarc::driver::sys;

use super::device::Device;
use super::driver::refused;
use crate::backend::CudaError;

impl Device {
    /// Sees to it that so many launches from the device may be pending, or as many as usual: what exceeds it fails, and is
    /// handled. The limit is put back when what is returned goes.
    pub(super) fn pending_launches(&self, launches: Option<u32>) -> Result<PendingLaunches<'_>, CudaError> {
        let usual = self.pending_limit()?;
        match launches.map(u64::from).filter(|&launches| launches != usual) {
            Some(launches) => {
                self.set_pending_limit(launches)?;
                Ok(PendingLaunches { device: self, usual: Some(usual) })
            }
            None => Ok(PendingLaunches { device: self, usual: None }),
        }
    }

    /// How many launches from the device may be pending.
    pub(super) fn pending_limit(&self) -> Result<u64, CudaError> {
        let limit = sys::CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
        let launches = self.context.get_limit(limit);
        Ok(launches.map_err(|e| refused("asking for the limit of pending launches", e))? as u64)
    }

    fn set_pending_limit(&self, launches: u64) -> Result<(), CudaError> {
        let limit = sys::CUlimit::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
        let set = self.context.set_limit(limit, launches as usize);
        set.map_err(|e| refused("setting the limit of pending launches", e))
    }
}

/// A limit of pending launches that is put back.
pub(super) struct PendingLaunches<'a> {
    device: &'a Device,
    /// The limit that was there, if it was changed.
    usual: Option<u64>,
}

impl Drop for PendingLaunches<'_> {
    fn drop(&mut self) {
        if let Some(usual) = self.usual {
            // Refused only where the device has failed for good, which the run has said.
            let _ = self.device.set_pending_limit(usual);
        }
    }
}
