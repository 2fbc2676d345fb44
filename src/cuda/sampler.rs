//! A coarse sample on a GPU: one launch over a grid of cells, and one copy back.

use super::args::{RunArgs, SampleArgs};
use super::device::Device;
use super::kernel::Argument;
use super::launcher::Launcher;
use super::memory::{Allocation, Buffer, integers};
use super::outline::Outline;
use super::pinned::Pinned;
use super::points::PointSort;
use super::specialise::Specialisation;
use super::twin;
use super::watch::{StopFlag, Watch};
use crate::abi::{DeviceStruct, padded};
use crate::backend::{Error, How, Sampler};
use crate::dimension::MAX_DIM;
use crate::field::DeviceTwin;
use crate::geometry::SampleGrid;

/// The kernel of a sample.
pub(super) fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Specialisation {
    Specialisation::of_levels("strategies/sample.cu", outline, twin, how, None).taking::<SampleArgs>("SampleArgs")
}

/// A grid of cells.
pub(super) struct SampledPoints {
    cells: u64,
    size: [u32; MAX_DIM],
    per_axis: [u32; MAX_DIM],
}

impl<const K: usize> From<SampleGrid<K>> for SampledPoints {
    fn from(grid: SampleGrid<K>) -> Self {
        Self { cells: grid.cells(), size: padded(grid.size()), per_axis: padded(grid.points()) }
    }
}

/// Compiles the kernel and allocates the labels; every call takes a sample.
///
/// # Errors
/// [`Error::Choice`], [`Error::Unsupported`], [`Error::DeviceMemory`], [`Error::Cuda`]; of a call also
/// [`Error::Interrupted`].
pub(super) fn sampler<'a>(
    device: &'a Device,
    outline: &Outline<'_>,
    grid: &SampledPoints,
    how: &How,
) -> Result<Sampler<'a>, Error> {
    let mut twin = twin::that_fits(device, outline, how.on_cuda().block)?;
    let kernel = device.kernels(&specialise(outline, &twin, how))?.get("sample")?;
    let arrays = twin::upload(device, &mut twin)?;
    let mut points = PointSort::new(device, &mut twin)?;
    if let Some(points) = &mut points {
        if twin.lent {
            device.quiet("waiting for those who have the field's points")?;
        }
        points.sort(device, &mut twin)?;
    }
    let args = Argument::new(&twin.args);
    let width = if outline.labels.kind().bytes() == 8 { 8 } else { 4 };
    let bytes = grid.cells * width;
    let labels = Buffer::new(device, "the labels of a sample", bytes, Allocation::Pool)?;
    let mut fetched = Pinned::new(&device.context, bytes as usize)?;
    device.synchronise("preparing a sample")?;
    let flag = StopFlag::new(device)?;
    let run = Argument::new(&RunArgs { stop: flag.address(), size: grid.size, ..RunArgs::default() }.bytes());
    let launch = SampleArgs { first: 0, points: grid.cells, labels: labels.address(), grid: grid.per_axis };
    let blocks = grid.cells.div_ceil(u64::from(kernel.threads()));
    Ok(Box::new(move |control| {
        let _alive = (&arrays, &points);
        device.bind()?;
        let watch = Watch { device, control, flag: &flag };
        watch.check()?;
        let mut streams = Vec::new();
        let mut launcher = Launcher::new(1, &watch, &mut streams);
        launcher.fold(&kernel, blocks, &run, &launch, &args)?;
        let bytes = labels.bytes() as usize;
        fetched.fetch(&device.stream, labels.address(), bytes)?;
        watch.wait("sampling")?;
        Ok(integers(fetched.bytes(bytes)?, width).collect())
    }))
}
