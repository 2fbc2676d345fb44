//! A workload's twin on a device: what kernels need to evaluate it, checked and uploaded.

use super::device::{Argument, Device};
use super::memory::Buffer;
use crate::device::DeviceTwin;
use crate::error::Error;
use crate::how::How;
use crate::workload::Workload;

/// The twin of a workload, if kernels can evaluate it in the block's shape.
///
/// # Errors
/// [`Error::Input`] if they cannot.
pub(super) fn checked<const K: usize>(workload: &dyn Workload<K>, how: &How) -> Result<DeviceTwin, Error> {
    let threads: u32 = how.block.iter().product();
    if !threads.is_multiple_of(32) || !(32..=1024).contains(&threads) {
        return Err(Error::Input(format!(
            "--block {}x{}x{}: the threads of a block must be a multiple of 32 between 32 and 1024",
            how.block[0], how.block[1], how.block[2]
        )));
    }
    let Some(twin) = workload.device() else {
        return Err(Error::Input(
            "--backend cuda: this workload has no device twin; use --backend cpu, or give it one with Workload::device"
                .into(),
        ));
    };
    if workload.carries_payload() {
        return Err(Error::Input("--backend cuda: regions with a payload are not supported there yet".into()));
    }
    Ok(twin)
}

/// The `FieldArgs` of a twin, and the arrays that it points to, which must live as long as kernels may read them.
///
/// # Errors
/// [`Error::DeviceMemory`], [`Error::Cuda`].
pub(super) fn upload(device: &Device, twin: &DeviceTwin) -> Result<(Argument, Vec<Buffer>), Error> {
    let mut args = twin.args.clone();
    let mut arrays = Vec::new();
    for array in &twin.arrays {
        let buffer = Buffer::upload(device, "the workload's arrays", &array.bytes)?;
        args[array.offset..array.offset + 8].copy_from_slice(&buffer.address().to_ne_bytes());
        arrays.push(buffer);
    }
    Ok((Argument::new(&args), arrays))
}
