//! A field's twin on a device: what kernels need to evaluate it, checked and uploaded.

use super::array_box::ArrayBox;
use super::device::Device;
use super::memory::{Allocation, Buffer};
use super::outline::Outline;
use super::points;
use crate::backend::{Error, Unsupported};
use crate::choice::{BLOCKS, ChoiceError, is_block};
use crate::field::{DeviceTwin, FieldError, TwinRefusal};
use crate::per_axis;

/// The twin of a field, if kernels can evaluate it in the block's shape.
///
/// # Errors
/// [`Error::Choice`] or [`Error::Unsupported`] if they cannot, [`Error::Field`] if there is no memory for its arrays.
pub(super) fn checked(outline: &Outline<'_>, block: [u32; 3]) -> Result<DeviceTwin, Error> {
    let unsupported = |what| Error::Unsupported { backend: "cuda", what };
    let threads = block.iter().try_fold(1u32, |threads, &side| threads.checked_mul(side));
    if !threads.is_some_and(is_block) {
        let reason = format!("the threads of a block must be {BLOCKS}");
        return Err(ChoiceError::new("block", per_axis::text(&block), reason).into());
    }
    if outline.carries {
        return Err(unsupported(Unsupported::Payload));
    }
    let twin = outline.typed.twin().ok_or_else(|| unsupported(Unsupported::NoTwin))?;
    match (twin.api, twin.refused.clone()) {
        (DeviceTwin::API, None) => Ok(twin),
        (DeviceTwin::API, Some(TwinRefusal::Memory { bytes: need })) => {
            Err(FieldError::Memory { what: "a copy of the field's arrays for the GPU", need }.into())
        }
        (DeviceTwin::API, Some(refusal)) => Err(unsupported(Unsupported::Twin(refusal))),
        (api, _) => Err(unsupported(Unsupported::TwinApi { api })),
    }
}

/// The twin of a field, if kernels can evaluate it. Points that have no room to be sorted on the device are sorted by the host.
///
/// # Errors
/// As [`checked`], and [`Error::Cuda`].
pub(super) fn that_fits(device: &Device, outline: &Outline<'_>, block: [u32; 3]) -> Result<DeviceTwin, Error> {
    let twin = checked(outline, block)?;
    match &twin.points {
        Some(points) if !twin.lent => {
            // What was freed before comes back with the next synchronisation. Some is left for the run.
            device.synchronise("waiting for the GPU")?;
            if points::bytes(points) <= device.memory()?.0 / 8 * 7 {
                return Ok(twin);
            }
            outline.typed.ready();
            checked(outline, block)
        }
        _ => Ok(twin),
    }
}

/// The array of a twin that has no room on the device as a whole; cells of the result have so many bytes.
///
/// # Errors
/// [`Error::Cuda`].
pub(super) fn boxed(
    device: &Device,
    outline: &Outline<'_>,
    twin: &mut DeviceTwin,
    cell: u64,
) -> Result<Option<ArrayBox>, Error> {
    let (true, [array]) = (twin.surveyed, &twin.arrays[..]) else { return Ok(None) };
    let bytes = array.content.pieces().map(|piece| piece.len() as u64).sum();
    let (free, _) = device.memory()?;
    if ArrayBox::whole(bytes, free) {
        return Ok(None);
    }
    let layout = (outline.size(), outline.labels.kind().bytes());
    let boxed = ArrayBox::new(array.content.clone(), layout, (bytes, free), cell);
    twin.arrays.clear();
    Ok(Some(boxed))
}

/// The arrays that a twin's `FieldArgs` point to, which must live as long as kernels may read them. The twin's own copy of them goes.
///
/// # Errors
/// [`Error::DeviceMemory`], [`Error::Cuda`].
pub(super) fn upload(device: &Device, twin: &mut DeviceTwin) -> Result<Vec<Buffer>, Error> {
    let mut arrays = Vec::new();
    for array in std::mem::take(&mut twin.arrays) {
        let pieces = || array.content.pieces();
        let bytes = pieces().map(|piece| piece.len() as u64).sum();
        let buffer = Buffer::new(device, "the field's arrays", bytes, Allocation::Pool)?;
        buffer.write(device, pieces())?;
        twin.args[array.offset..array.offset + 8].copy_from_slice(&buffer.address().to_ne_bytes());
        arrays.push(buffer);
    }
    Ok(arrays)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::ArrayField;
    use crate::geometry::{Domain, Sample};
    use ndarray::{IxDyn, aview0};

    #[test]
    fn an_array_that_cannot_be_copied_is_refused() {
        // One byte, seen so often that no address space has room for a copy.
        let one = aview0(&7u8);
        let field = ArrayField::<2, u8>::new(one.broadcast(IxDyn(&[1 << 31, 1 << 31])).unwrap()).unwrap();
        let domain = Domain::new([1 << 31, 1 << 31], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        match checked(&Outline::of_sample(&domain, &field).unwrap(), [8, 8, 1]).map(drop) {
            Err(Error::Field(FieldError::Memory { need, .. })) => assert_eq!(need, 1 << 62),
            other => panic!("{other:?}"),
        }
    }
}
