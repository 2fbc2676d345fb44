//! A field's twin on a device: what kernels need to evaluate it, checked and uploaded.

use super::device::{Argument, Device};
use super::memory::Buffer;
use crate::backend::{Error, Unsupported};
use crate::choice::{BLOCKS, ChoiceError, is_block};
use crate::field::{DeviceTwin, Field};

/// The twin of a field, if kernels can evaluate it in the block's shape.
///
/// # Errors
/// [`Error::Choice`] or [`Error::Unsupported`] if they cannot.
pub(super) fn checked<const K: usize>(field: &dyn Field<K>, block: [u32; 3]) -> Result<DeviceTwin, Error> {
    let unsupported = |what| Error::Unsupported { backend: "cuda", what };
    let threads = block.iter().try_fold(1u32, |threads, &side| threads.checked_mul(side));
    if !threads.is_some_and(is_block) {
        let reason = format!("the threads of a block must be {BLOCKS}");
        return Err(ChoiceError::new("block", block.map(|side| side.to_string()).join("x"), reason).into());
    }
    if field.carrier().is_some() {
        return Err(unsupported(Unsupported::Payload));
    }
    let twin = field.twin().ok_or_else(|| unsupported(Unsupported::NoTwin))?;
    match twin.api {
        DeviceTwin::API => Ok(twin),
        api => Err(unsupported(Unsupported::TwinApi { api })),
    }
}

/// The `FieldArgs` of a twin, and the arrays that it points to, which must live as long as kernels may read them.
///
/// # Errors
/// [`Error::DeviceMemory`], [`Error::Cuda`].
pub(super) fn upload(device: &Device, twin: &DeviceTwin) -> Result<(Argument, Vec<Buffer>), Error> {
    let mut args = twin.args.clone();
    let mut arrays = Vec::new();
    for array in &twin.arrays {
        let buffer = Buffer::upload(device, "the field's arrays", &array.bytes)?;
        args[array.offset..array.offset + 8].copy_from_slice(&buffer.address().to_ne_bytes());
        arrays.push(buffer);
    }
    Ok((Argument::new(&args), arrays))
}
