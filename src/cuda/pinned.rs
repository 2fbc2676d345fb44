//! Host memory that a device copies to and from without a detour.
#![allow(unsafe_code)]

use std::sync::Arc;

use cudarc::driver::{CudaContext, CudaStream, PinnedHostSlice, result};

use super::driver::refused;
use crate::backend::CudaError;

/// Host memory that the device copies to directly.
#[derive(Debug)]
pub(super) struct Pinned(PinnedHostSlice<u8>);

impl Pinned {
    pub(super) fn new(context: &Arc<CudaContext>, bytes: usize) -> Result<Self, CudaError> {
        // SAFETY: read only where a copy from the device has written.
        unsafe { context.alloc_pinned_with_flags(bytes, 0) }
            .map(Self)
            .map_err(|error| refused("allocating pinned memory", error))
    }

    /// What holds a copy of `bytes`.
    pub(super) fn holding(context: &Arc<CudaContext>, bytes: &[u8]) -> Result<Self, CudaError> {
        let mut pinned = Self::new(context, bytes.len())?;
        pinned.bytes_mut()?.copy_from_slice(bytes);
        Ok(pinned)
    }

    /// Copies `bytes` bytes from `address` on, later, in the order of the stream. They may be read when it was waited for.
    pub(super) fn fetch(&mut self, stream: &CudaStream, address: u64, bytes: usize) -> Result<(), CudaError> {
        let refused = |error| refused("copying from the device", error);
        assert!(bytes <= self.0.len(), "the pinned buffer is large enough");
        let to = self.0.as_mut_ptr().map_err(refused)?;
        // SAFETY: the pinned buffer has room, is not touched before the stream was waited for, and `address` is a live
        // buffer of at least as many bytes.
        unsafe {
            let to = std::slice::from_raw_parts_mut(to, bytes);
            result::memcpy_dtoh_async(to, address, stream.cu_stream()).map_err(refused)
        }
    }

    /// How many bytes it has.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// All bytes, to be written while no copy uses them.
    pub(super) fn bytes_mut(&mut self) -> Result<&mut [u8], CudaError> {
        self.0.as_mut_slice().map_err(|error| refused("writing pinned memory", error))
    }

    /// The first `bytes` bytes.
    pub(super) fn bytes(&self, bytes: usize) -> Result<&[u8], CudaError> {
        self.0.as_slice().map(|all| &all[..bytes]).map_err(|error| refused("reading pinned memory", error))
    }
}
