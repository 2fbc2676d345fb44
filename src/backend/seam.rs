//! The seam between what is computed and where.
//!
//! A backend prepares a plan: it checks that it can carry it out, compiles, allocates. What it hands back is run as often
//! as one likes and then tells its counts and its cells. Whoever runs anything, the program and the conformance suite
//! included, takes this way and no other; several prepared plans, on several backends, live side by side.

use std::time::Duration;

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::facts::DeviceFacts;
use crate::backend::how::{How, Mapping};
use crate::backend::ordered::OrderedSink;
use crate::backend::part::Part;
use crate::backend::resident_array::ResidentArray;
use crate::backend::resident_regions::ResidentRegions;
use crate::backend::sink::Sink;
use crate::field::Field;
use crate::geometry::{Domain, SampleGrid};
use crate::plan::Plan;
use crate::result::{Cells, RunCounts, Subdivision, Times};

/// Keeps [`Place`], [`Prepared`] and [`Balances`](crate::backend::Balances) to the backends of this crate: what they share is not open to others.
pub(crate) mod sealed {
    pub trait SealedBackend {}
}

/// What a backend says of itself, without a number of dimensions. Only the backends of this crate implement it.
pub trait Place: sealed::SealedBackend {
    /// Its name in the registry of backends.
    fn name(&self) -> &'static str;

    /// The device in words; None for the CPU.
    fn device(&self) -> Option<&str>;

    /// Multiprocessors of a GPU, and the threads that each keeps in flight; None for the CPU.
    fn multiprocessors(&self) -> Option<[u32; 2]>;

    /// Everything about a GPU, for a record; None for the CPU.
    fn facts(&self) -> Option<DeviceFacts>;

    /// A second way to the device, for another thread that gives it work; None if there is none. Both together keep the limits of one.
    ///
    /// # Errors
    /// If the device refuses.
    fn second(&mut self) -> Result<Option<Self>, Error>
    where
        Self: Sized;
}

/// Takes a coarse sample: every call evaluates the cells of a grid in storage order, and returns the
/// [keys](crate::rule::exact::key) of their labels. A cancelled control ends it with [`Error::Interrupted`].
pub type Sampler<'a> = Box<dyn FnMut(&Control) -> Result<Vec<u64>, Error> + 'a>;

/// Where plans are carried out. Every backend computes the same cells, to the bit.
/// [`Target::open`](crate::Target::open) opens one.
///
/// ```
/// use orthant::Control;
/// use orthant::geometry::SampleGrid;
/// use orthant::prelude::*;
///
/// // A coarse sample on the CPU: every second cell of 8 x 8.
/// let plan = Plan::builder([8, 8]).scheme(Scheme::uniform(2, 2, 1)).build()?;
/// let numbered = CellField::new(63, |[x, y]| x + 8 * y);
/// let cpu = Target::cpu();
/// let grid = SampleGrid::new(plan.domain().size(), 16);
/// let mut sample = cpu.of().sample(plan.domain(), &numbered, grid, &How::default())?;
/// assert_eq!(sample(&Control::default())?[..5], [0, 2, 4, 6, 16]);
/// # Ok::<(), orthant::Error>(())
/// ```
pub trait Backend<const K: usize>: Place + Sync {
    /// Prepares to evaluate `field` on a grid of cells of `domain`; of `how` the threads or the block's shape matter.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the field or the tuning cannot be had here; [`Error::DeviceMemory`], [`Error::Cuda`].
    fn sample<'a>(
        &'a self,
        domain: &Domain<K>,
        field: &'a dyn Field<K>,
        grid: SampleGrid<K>,
        how: &How,
    ) -> Result<Sampler<'a>, Error>;

    /// True if a plan can be carried out by streams here, as far as can be told before anything is compiled.
    fn has_streams(&self, plan: &Plan<K>, field: &dyn Field<K>, how: &How) -> bool {
        let _ = (plan, field, how);
        false
    }

    /// Prepares a plan: checks the choices, compiles, and allocates what every run needs. What a run needs beside that follows
    /// from the part that it carries out.
    ///
    /// # Errors
    /// [`Error::Choice`] if labels do not fit the cells or the choices do not go together, [`Error::Unsupported`] if the field
    /// or the tuning cannot be had here; [`Error::DeviceMemory`], [`Error::Cuda`].
    fn prepare<'a>(
        &'a self,
        plan: &Plan<K>,
        field: &'a dyn Field<K>,
        how: &How,
    ) -> Result<Box<dyn Prepared<K> + 'a>, Error>;
}

/// A plan on a backend, ready to run again and again. It keeps its buffers from run to run.
///
/// ```
/// use orthant::backend::Part;
/// use orthant::prelude::*;
/// use orthant::Control;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).build()?;
/// let left = CellField::new(1, |[x, _]| u32::from(x < 32));
/// let (cpu, control) = (Target::cpu(), Control::default());
/// // Buffers are allocated once, and serve every run.
/// let mut prepared = cpu.of().prepare(&plan, &left, &How::default())?;
/// for _ in 0..3 {
///     prepared.run(&Part::default(), &control)?;
///     assert_eq!(prepared.counts()?.totals().filled, 4);
/// }
/// # Ok::<(), orthant::Error>(())
/// ```
pub trait Prepared<const K: usize>: sealed::SealedBackend + Send {
    /// One run of a part of the plan, [`Part::default`] for the whole. Memory for the window is taken once, and kept while it is
    /// large enough.
    ///
    /// # Errors
    /// Before any work: [`Error::Part`] if the part does not fit the plan; [`Error::Memory`] or [`Error::DeviceMemory`] if
    /// the estimate exceeds what there is. [`Error::Interrupted`], soon after the control was cancelled, and then there is
    /// nothing to be asked about; [`Error::Memory`] or [`Error::DeviceMemory`] if tables or results outgrow the estimate;
    /// [`Error::Cuda`].
    fn run(&mut self, part: &Part<'_, K>, control: &Control) -> Result<Times, Error>;

    /// How many workers share a region: as chosen, else what the backend took for the last run, or would take for one.
    fn mapping(&self) -> Mapping;

    /// Why that is another than the backend would have taken where it was left open: what refused; None if nothing did.
    fn mapping_refused(&self) -> Option<&Error> {
        None
    }

    /// Into how many pieces a run of the whole plan has to be cut, so that the device has room for what a piece needs of the field's
    /// array; 1 if it has room for all of it.
    fn pieces(&self) -> u64 {
        1
    }

    /// Bytes of the field's arrays that were copied to devices until now: whole ones when the plan was prepared, and pieces as runs
    /// needed them. 0 on the CPU, and of arrays that lie on a device.
    fn copied(&self) -> u64 {
        0
    }

    /// How long each of several devices ran kernels in the last run, host decisions between them included; nothing of one device.
    fn busy(&self) -> Vec<Duration> {
        Vec::new()
    }

    /// Why a device of several stopped in a run until now, so that the others do its work; None if none did.
    fn stopped(&self) -> Option<&Error> {
        None
    }

    /// What the last run counted.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if a cell is missing; [`Error::Cuda`].
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn counts(&self) -> Result<RunCounts<K>, Error>;

    /// Delivers the regions and the cells of the last run to a sink. They are taken: another run has to follow before they
    /// are asked for again.
    ///
    /// # Errors
    /// As [`counts`](Self::counts), and those of the sink.
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn result(&mut self, sink: &mut dyn Sink<K>) -> Result<(), Error>;

    /// The last run with all its regions and cells, on the host. They are taken, as by [`result`](Self::result).
    ///
    /// # Errors
    /// As [`counts`](Self::counts); [`Error::Memory`].
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn subdivision(&mut self) -> Result<Subdivision<K>, Error>;

    /// Delivers the regions of the last run in the sink's order, piece by piece. The sink works on a piece while the next is read, so that
    /// bricks need not be in memory all at once. Regions are taken, as by [`result`](Self::result).
    ///
    /// # Errors
    /// As [`counts`](Self::counts); [`Error::Memory`].
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn ordered(&mut self, sink: &dyn OrderedSink<K>) -> Result<(), Error>;

    /// Memory for the cells of the next result: that of a result that is no longer needed.
    fn reuse(&mut self, memory: Cells) {
        let _ = memory;
    }

    /// The checksum of the last run's dense array, which stays where it is; None if none was kept.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn checksum(&self) -> Result<Option<String>, Error>;

    /// Where the last run's dense array lies on a device; None if it lies on the host, on several devices, or was not kept.
    ///
    /// The prepared plan owns that memory. The address holds until the next run, or until the plan is dropped. The plan then
    /// waits for all work on the device, so that whoever reads the cells there finishes first. Everything that the run did to
    /// the cells is done when this returns.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn resident_array(&self) -> Result<Option<ResidentArray<K>>, Error> {
        Ok(None)
    }

    /// Where the last run's regions and the cells of its leaves lie on a device, in the order of a
    /// [`Subdivision`]; None if they lie on the host, on several devices, in another order, or were not kept. A GPU has them so where
    /// it takes an array from the cells up: a stream of an array under [`Keep::Regions`](crate::result::Keep), the default there.
    ///
    /// The prepared plan owns that memory, under the terms of [`resident_array`](Self::resident_array). [`subdivision`](Self::subdivision)
    /// reads the same regions back.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    ///
    /// # Panics
    /// If nothing was run to its end.
    fn resident_regions(&self) -> Result<Option<ResidentRegions>, Error> {
        Ok(None)
    }
}
