//! What a prepared plan has on a device, whatever its strategy.

use super::device::{Argument, Device};
use super::memory::{Allocation, Buffer};
use super::specialise::{RunArgs, TALLY_COLUMNS, TALLY_ROWS};
use super::twin;
use super::watch::StopFlag;
use crate::abi::{DeviceStruct, padded};
use crate::backend::CudaError;
use crate::backend::{CudaTuning, Error, How};
use crate::curve::DeviceCurve;
use crate::field::{DeviceTwin, Field};
use crate::plan::Plan;
use crate::result::Storage;

/// What every host program works with.
pub(super) struct Setup<'a, const K: usize> {
    pub(super) device: &'a Device,
    pub(super) plan: Plan<K>,
    pub(super) field: &'a dyn Field<K>,
    pub(super) how: How,
    pub(super) storage: Storage,
    pub(super) cuda: CudaTuning,
    pub(super) twin: DeviceTwin,
    /// `RunArgs` and `FieldArgs`.
    pub(super) run: Argument,
    pub(super) args: Argument,
    /// The dense array, if it is kept.
    pub(super) array: Option<Buffer>,
    pub(super) tallies: Buffer,
    pub(super) stop: StopFlag,
    /// Arrays of the field, alive as long as kernels may read them.
    _arrays: Vec<Buffer>,
}

impl<'a, const K: usize> Setup<'a, K> {
    /// Uploads the field's twin and allocates the dense array, of `dense` bytes if it is kept, and the tallies.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn new(
        device: &'a Device,
        plan: &Plan<K>,
        field: &'a dyn Field<K>,
        (how, storage): (&How, Storage),
        twin: DeviceTwin,
        dense: Option<u64>,
    ) -> Result<Self, Error> {
        let (args, arrays) = twin::upload(device, &twin)?;
        let allocate = |bytes| Buffer::new(device, "the dense array", bytes, Allocation::Pool);
        let array = dense.map(allocate).transpose()?;
        let stop = StopFlag::new(device)?;
        let run = RunArgs {
            array: array.as_ref().map_or(0, Buffer::address),
            stop: stop.address(),
            size: padded(plan.domain().size()),
        };
        let rows = plan.levels().len() as u64 * u64::from(TALLY_ROWS * TALLY_COLUMNS);
        Ok(Self {
            device,
            plan: plan.clone(),
            field,
            how: how.clone(),
            storage,
            cuda: how.on_cuda(),
            twin,
            run: Argument::new(&run.bytes()),
            args,
            array,
            tallies: Buffer::new(device, "tallies", rows * 8, Allocation::Pool)?,
            stop,
            _arrays: arrays,
        })
    }

    /// Bytes of a label's word.
    pub(super) fn value_bytes(&self) -> u64 {
        if self.storage.label.bytes() == 8 { 8 } else { 4 }
    }

    /// Forgets what was counted.
    pub(super) fn reset_tallies(&self) -> Result<(), CudaError> {
        self.tallies.set(0)
    }

    /// The address of a level's tallies.
    pub(super) fn tallies(&self, level: u32) -> u64 {
        self.tallies.address() + u64::from(level * TALLY_ROWS * TALLY_COLUMNS) * 8
    }

    /// The start states of a curve's trees, if it has any.
    pub(super) fn starts(&self, curve: &DeviceCurve<'_>) -> Result<Option<Buffer>, Error> {
        let bytes: Vec<u8> = curve.starts.iter().flat_map(|start| start.to_ne_bytes()).collect();
        match bytes[..] {
            [] => Ok(None),
            _ => Buffer::upload(self.device, "the curve's start states", &bytes).map(Some),
        }
    }

    /// The curve as kernels decode it on the deepest level.
    pub(super) fn deepest(&self) -> (DeviceCurve<'_>, u32) {
        let deepest = self.plan.levels().len() as u32 - 1;
        (self.plan.encoding().device(deepest), self.plan.encoding().bits(deepest))
    }
}

/// A column of a level's tallies, added up.
pub(super) fn tally(tallies: &[u64], column: u32) -> u64 {
    (0..TALLY_ROWS).map(|row| tallies[(row * TALLY_COLUMNS + column) as usize]).fold(0, u64::wrapping_add)
}
