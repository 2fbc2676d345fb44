//! A list of terminal regions in parts, which one launch settles (kernels/listed.cuh).

use crate::abi::DeviceStruct;
use crate::backend::Error;
use crate::cuda::args::LaunchArgs;
use crate::cuda::device::Device;
use crate::cuda::memory::Buffer;

/// The parts so far: regions of a level that are all uniform, or all leaves.
#[derive(Default)]
pub(super) struct ListParts {
    parts: Vec<LaunchArgs>,
    /// Alive as long as kernels may read it.
    buffer: Option<Buffer>,
}

impl ListParts {
    /// Forgets what there was.
    pub(super) fn clear(&mut self) {
        self.parts.clear();
    }

    /// One part more, of `regions` regions with `pieces` blocks each.
    pub(super) fn add(&mut self, part: LaunchArgs) {
        if part.regions > 0 {
            self.parts.push(LaunchArgs { first: self.blocks(), ..part });
        }
    }

    /// Blocks of all parts.
    pub(super) fn blocks(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.first + part.regions * u64::from(part.pieces))
    }

    /// Puts the parts on the device and returns their address.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn upload(&mut self, device: &Device) -> Result<u64, Error> {
        let bytes: Vec<u8> = self.parts.iter().flat_map(DeviceStruct::bytes).collect();
        Ok(self.buffer.insert(Buffer::upload(device, "the parts of a list", &bytes)?).address())
    }
}
