//! A coarse sample on a GPU: one launch over a grid of cells, and one copy back.

use super::args::{LaunchArgs, RunArgs};
use super::device::{Argument, Device};
use super::launcher::Launcher;
use super::memory::{Allocation, Buffer, Pinned, integers};
use super::specialise::Specialisation;
use super::twin;
use super::watch::{StopFlag, Watch};
use crate::abi::{DeviceStruct, padded};
use crate::backend::{Error, How, Sampler};
use crate::curve::CurveKind;
use crate::field::{DeviceTwin, Field};
use crate::geometry::{Domain, SampleGrid, Scheme};
use crate::plan::Plan;
use crate::rule::RuleKind;

/// The kernel of a sample.
pub(super) fn specialise<const K: usize>(
    domain: &Domain<K>,
    field: &dyn Field<K>,
    twin: &DeviceTwin,
    how: &How,
) -> Result<Specialisation, Error> {
    // No region, no curve: of a plan the kernel knows its dimension only.
    let plan = Plan::new(*domain, Scheme::uniform(1, 2, u32::MAX), CurveKind::Canonical, RuleKind::Border)?;
    let curve = plan.encoding().device(0);
    Ok(Specialisation::new("strategies/sample.cu", &plan, field, twin, how, &curve, plan.encoding().bits(0)))
}

/// Compiles the kernel and allocates the labels; every call takes a sample.
///
/// # Errors
/// [`Error::Choice`], [`Error::Unsupported`], [`Error::DeviceMemory`], [`Error::Cuda`]; of a call also
/// [`Error::Interrupted`].
pub(super) fn sampler<'a, const K: usize>(
    device: &'a Device,
    domain: &Domain<K>,
    field: &dyn Field<K>,
    grid: SampleGrid<K>,
    how: &How,
) -> Result<Sampler<'a>, Error> {
    let mut twin = twin::checked(field, how.on_cuda().block)?;
    let kernel = device.kernels(&specialise(domain, field, &twin, how)?)?.get("sample")?;
    let (args, arrays) = twin::upload(device, &mut twin)?;
    let width = if field.labels().kind().bytes() == 8 { 8 } else { 4 };
    let bytes = grid.cells() * width;
    let labels = Buffer::new(device, "the labels of a sample", bytes, Allocation::Pool)?;
    let mut fetched = Pinned::new(device, bytes as usize)?;
    device.synchronise("preparing a sample")?;
    let flag = StopFlag::new(device)?;
    let run = Argument::new(&RunArgs { stop: flag.address(), size: padded(grid.size()), ..RunArgs::default() }.bytes());
    let launch = LaunchArgs {
        regions: grid.cells(),
        values: labels.address(),
        grid: padded(grid.points()),
        ..LaunchArgs::default()
    };
    let blocks = grid.cells().div_ceil(u64::from(kernel.threads()));
    Ok(Box::new(move |control| {
        let _alive = &arrays;
        device.bind()?;
        let watch = Watch { device, control, flag: &flag };
        watch.check()?;
        let mut streams = Vec::new();
        let mut launcher = Launcher::new(1, &watch, &mut streams);
        launcher.fold(&kernel, blocks, &run, &launch, &args)?;
        let bytes = labels.bytes() as usize;
        fetched.fetch(device, labels.address(), bytes)?;
        watch.wait("sampling")?;
        Ok(integers(fetched.bytes(bytes)?, width).collect())
    }))
}
