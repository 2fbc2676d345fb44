//! A coarse sample on a GPU: one launch over a lattice of cells, and one copy back.

use super::device::{Argument, Device, Kernel};
use super::launcher::Launcher;
use super::memory::{Allocation, Buffer, Pinned};
use super::specialise::{LaunchArgs, RunArgs, Specialisation};
use super::twin;
use crate::cpu::Control;
use crate::curve::CurveKind;
use crate::device::{DeviceStruct, DeviceTwin, padded};
use crate::domain::Domain;
use crate::error::Error;
use crate::how::How;
use crate::model::sample::Lattice;
use crate::olt::MIXED;
use crate::plan::{ExploreRule, Plan, Scheme};
use crate::workload::Workload;

/// A lattice of cells, ready to be evaluated: the kernel compiled, the buffers allocated.
pub struct Sampler<'a, const K: usize> {
    device: &'a Device,
    lattice: Lattice<K>,
    kernel: Kernel,
    run: Argument,
    args: LaunchArgs,
    field: Argument,
    labels: Buffer,
    fetched: Pinned,
    _arrays: Vec<Buffer>,
}

/// The kernel of a sample.
pub(super) fn specialise<const K: usize>(
    domain: &Domain<K>,
    workload: &dyn Workload<K>,
    twin: &DeviceTwin,
    how: &How,
) -> Result<Specialisation, Error> {
    // No region, no curve: of a plan the kernel knows its dimension only.
    let plan = Plan::new(*domain, Scheme::uniform(1, 2, u32::MAX), CurveKind::Canonical, ExploreRule::Border)?;
    let curve = plan.encoding().device(0);
    Ok(Specialisation::new("strategies/sample.cu", &plan, workload, twin, how, &curve, plan.encoding().bits(0)))
}

impl<'a, const K: usize> Sampler<'a, K> {
    /// Compiles the kernel and allocates the labels.
    ///
    /// # Errors
    /// [`Error::Input`] if the workload has no device twin or the block's shape is none; [`Error::DeviceMemory`],
    /// [`Error::Cuda`].
    pub fn new(
        device: &'a Device,
        lattice: Lattice<K>,
        workload: &dyn Workload<K>,
        domain: &Domain<K>,
        how: &How,
    ) -> Result<Self, Error> {
        let twin = twin::checked(workload, how)?;
        let kernel = device.kernels(&specialise(domain, workload, &twin, how)?)?.get("sample")?;
        let (field, arrays) = twin::upload(device, &twin)?;
        let bytes = lattice.cells() * 4;
        let labels = Buffer::new(device, "the labels of a sample", bytes, Allocation::Pool)?;
        // A label that is never written shows.
        labels.set(0xff)?;
        let fetched = Pinned::new(device, bytes as usize)?;
        device.synchronise("preparing a sample")?;
        let run = RunArgs { field: 0, size: padded(lattice.size()) };
        let args = LaunchArgs {
            regions: lattice.cells(),
            outcomes: labels.address(),
            grid: padded(lattice.points()),
            ..LaunchArgs::default()
        };
        let run = Argument::new(&run.bytes());
        Ok(Self { device, lattice, kernel, run, args, field, labels, fetched, _arrays: arrays })
    }

    /// The labels of the lattice's cells, in storage order.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if a label was not written; [`Error::Cuda`].
    pub fn labels(&mut self) -> Result<Vec<u32>, Error> {
        let (control, mut streams) = (Control::default(), Vec::new());
        let mut launcher = Launcher::new(self.device, 1, &control, &mut streams);
        let blocks = self.lattice.cells().div_ceil(u64::from(self.kernel.threads()));
        launcher.fold(&self.kernel, blocks, &self.run, &self.args, &self.field)?;
        let bytes = self.labels.bytes() as usize;
        self.fetched.fetch(self.device, self.labels.address(), bytes)?;
        self.device.synchronise("sampling")?;
        let words = self.fetched.bytes(bytes)?.chunks_exact(4);
        let labels: Vec<u32> = words.map(|word| u32::from_ne_bytes(word.try_into().expect("4"))).collect();
        match labels.iter().filter(|&&label| label != MIXED).count() {
            seen if seen < labels.len() => Err(Error::Incomplete { seen: seen as u128, total: labels.len() as u128 }),
            _ => Ok(labels),
        }
    }
}
