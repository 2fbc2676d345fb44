//! A plan's host program with what it has on a device: made ready for a part, run, and asked about.

use std::mem::replace;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::CudaStream;

use super::constants::{
    TALLY_COLUMNS, TALLY_EVALUATED, TALLY_EXPLORED, TALLY_FILLED, TALLY_FILLED_CELLS, TALLY_KNOWN, TALLY_LABELS,
    TALLY_LEAF_CELLS, TALLY_LEAVES, TALLY_PROVEN, TALLY_ROWS,
};
use super::device::{Device, elapsed};
use super::gather::Gathering;
use super::launcher::Launcher;
use super::limits;
use super::memory::{Reserve, TakeBytes, read, read_integers};
use super::native;
use super::outline::Outline;
use super::setup::{Setup, tally};
use super::strategy::{self, LevelRun, Maker, Program, RegionsLeft};
use super::survey::survey;
use super::twin;
use super::watch::Watch;
use crate::backend::{Control, Error, Estimate, How, Mapping, Start, StrategyKind};
use crate::dimension::MAX_DIM;
use crate::result::{Checksum, Keep, Launches, LevelCounts, Terminal, Times};

/// A dense array is filled with this byte when it is allocated, so that a cell that is never written mostly shows;
/// [`How::poison`] makes sure.
const POISON: u8 = 0xff;

/// A host program, ready to run.
pub(super) struct Runner<'a> {
    // Dropped before what its kernels read.
    program: Box<dyn Program>,
    pub(super) setup: Setup<'a>,
    /// Streams for stacks of launches, made when they are first needed.
    streams: Vec<Arc<CudaStream>>,
    /// The most bytes that a run was found to have room for.
    fits: u128,
    /// Nobody chose the mapping: another does, where this one has no way to carry out a part.
    open: bool,
    /// Why another did.
    pub(super) refused: Option<Error>,
    last: Option<Finished>,
}

/// What the last run came to.
pub(super) struct Finished {
    levels: Vec<LevelRun>,
    pub(super) launches: Launches,
    pub(super) times: Times,
}

/// What sorting a field's points took.
#[derive(Default)]
struct Sorted {
    launches: u64,
    wall: Duration,
    device: Duration,
}

/// Where a run is to start, and what it is expected to take.
pub(super) struct Aim<'r> {
    pub(super) start: Start<'r, MAX_DIM>,
    pub(super) estimate: Estimate,
    /// Regions that are expected, and their share of those of the whole plan.
    pub(super) expected: f64,
    pub(super) share: f64,
}

impl<'a> Runner<'a> {
    pub(super) fn new(device: &'a Device, mut outline: Outline<'a>, how: &How) -> Result<Self, Error> {
        let storage = how.check(outline.labels)?;
        let how = &native::settled(how, &outline.split)?;
        let twin = twin::that_fits(device, &outline, how.on_cuda().block)?;
        outline.meet(&twin);
        how.check_proofs(outline.rule, twin.has_proofs())?;
        let mapping = how.tuning.mapping.unwrap_or_else(|| strategy::usual(&outline, &twin, how));
        let open = how.tuning.mapping.is_none() && mapping != Mapping::Sbr;
        let setup = Setup::new(device, outline, (&how.clone().mapping(Some(mapping)), storage), twin)?;
        let program = (maker(&setup).program)(&setup)?;
        let fits = setup.held();
        Ok(Self { program, setup, streams: Vec::new(), fits, open, refused: None, last: None })
    }

    /// Forgets the last run, before anything of the next is looked at.
    pub(super) fn begin(&mut self, control: &Control) -> Result<(), Error> {
        self.last = None;
        control.check()?;
        Ok(self.setup.device.bind()?)
    }

    /// A run.
    pub(super) fn run(&mut self, aim: &Aim<'_>, control: &Control) -> Result<Times, Error> {
        // Programs are told where cells are when they are made ready.
        let sorted = self.sort()?;
        self.ready(aim)?;
        match self.attempt(&sorted, control) {
            // How much memory bricks take is known when their level is decided.
            Err(error) if self.open => {
                self.give_way(error, aim)?;
                self.attempt(&sorted, control)
            }
            done => done,
        }
    }

    /// Waits for those who have the field's array or its points, if these are somebody else's, and sorts the points.
    fn sort(&mut self) -> Result<Sorted, Error> {
        let device = self.setup.device;
        if self.setup.twin.lent {
            device.quiet("waiting for those who have the field's array or its points")?;
        }
        if self.setup.twin.points.is_none() {
            return Ok(Sorted::default());
        }
        let (start, from) = (Instant::now(), device.mark()?);
        let launches = self.setup.sort_points()?;
        let to = device.mark()?;
        device.synchronise("sorting points")?;
        Ok(Sorted { launches, wall: start.elapsed(), device: elapsed(&from, &to)? })
    }

    /// Makes ready for a run; by a block per region where the mapping was left open and the one that was taken cannot carry it
    /// out, or has no room: its memory follows from whole lattices.
    fn ready(&mut self, aim: &Aim<'_>) -> Result<(), Error> {
        match self.aim(aim) {
            Err(error) if self.open => self.give_way(error, aim),
            done => done,
        }
    }

    /// Makes ready for a run by a block per region, if `error` is one that it may not meet.
    fn give_way(&mut self, error: Error, aim: &Aim<'_>) -> Result<(), Error> {
        if !matches!(
            error,
            Error::Choice(_) | Error::Unsupported { .. } | Error::DeviceMemory { .. } | Error::Memory(_)
        ) {
            return Err(error);
        }
        let taken = self.setup.how.tuning.mapping.replace(Mapping::Sbr);
        match (maker(&self.setup).program)(&self.setup) {
            Ok(program) => self.program = program,
            Err(error) => {
                self.setup.how.tuning.mapping = taken;
                return Err(error);
            }
        }
        (self.open, self.refused) = (false, Some(error));
        self.setup.array = Reserve::default();
        self.fits = self.setup.held();
        self.aim(aim)
    }

    /// Takes the program that roots can have: the stream of an array lists regions along a range of codes alone.
    fn meet_roots(&mut self, start: &Start<'_, MAX_DIM>) -> Result<(), Error> {
        let is_bottom_up = |setup: &Setup<'_>| strategy::is_bottom_up(&setup.outline, &setup.twin, &setup.how);
        let before = is_bottom_up(&self.setup);
        let scattered = start.first().is_none() || !(start.whole || self.setup.outline.curve.is_hierarchical());
        let was = replace(&mut self.setup.outline.scattered, scattered);
        if is_bottom_up(&self.setup) == before {
            return Ok(());
        }
        match (maker(&self.setup).program)(&self.setup) {
            Ok(program) => self.program = program,
            Err(error) => {
                self.setup.outline.scattered = was;
                return Err(match error {
                    Error::Choice(error) => error.with(&["explore", "parts", "curve"]).into(),
                    error => error,
                });
            }
        }
        // What the other program had is free.
        self.fits = self.setup.held();
        Ok(())
    }

    /// Makes ready for a run, if it fits the memory.
    fn aim(&mut self, aim: &Aim<'_>) -> Result<(), Error> {
        self.meet_roots(&aim.start)?;
        let Setup { device, outline, how, .. } = &self.setup;
        let start = &aim.start;
        if how.tuning.strategy != StrategyKind::Exhaustive && start.len() > limits::MOST {
            return Err(limits::too_many_regions(start.level, start.len().into()));
        }
        let mut estimate = aim.estimate;
        if how.tuning.mapping() == Mapping::Stream {
            estimate.olt = (maker(&self.setup).table_bytes)(outline, how);
        }
        estimate.check(how.mem_limit)?;
        let need = on_device(&self.setup, aim.share, &estimate);
        if need > self.fits {
            // What was freed before comes back with the next synchronisation.
            device.synchronise("waiting for the GPU")?;
            let (free, _) = device.memory()?;
            if need - self.fits > u128::from(free) {
                // What this plan has is free for it.
                let free = free + self.fits as u64;
                return Err(Error::DeviceMemory { what: "arrays and tables", need, free });
            }
            self.fits = need;
        }
        let dense = (how.kept.keep == Keep::Dense).then_some(estimate.dense as u64);
        let (whole, chosen) = (start.whole, how.poison);
        let new = self.setup.aim(start, aim.expected, dense)?;
        self.program.aim(&self.setup)?;
        // Without a poison, what no root covers could be left from another window.
        match chosen.or((!whole).then_some(0)).or(new.then_some(POISON)) {
            Some(byte) => self.poison(byte),
            None => Ok(()),
        }
    }

    /// A run from where it is ready.
    fn attempt(&mut self, sorted: &Sorted, control: &Control) -> Result<Times, Error> {
        let Self { setup, program, streams, .. } = self;
        let device = setup.device;
        let limit = device.kernels_at_once(setup.how.tuning.max_kernels);
        let _pending = match program.launches_from_device() {
            true => Some(device.pending_launches(setup.cuda.pending_launches)?),
            false => None,
        };
        let watch = Watch { device, control, flag: &setup.stop };
        let mut launcher = Launcher::new(limit, &watch, streams);
        launcher.launches.kernels += sorted.launches;
        let start = Instant::now();
        let from = device.mark()?;
        setup.reset()?;
        survey(setup, &mut launcher)?;
        program.run(setup, &mut launcher)?;
        let to = device.mark()?;
        watch.wait("running kernels")?;
        let (wall, on_device) = (start.elapsed() + sorted.wall, elapsed(&from, &to)? + sorted.device);
        let times = Times { wall, device: Some(on_device) };
        let mut launches = launcher.launches;
        let levels = program.levels(setup, &mut launches)?;
        if let Some(forest) = &setup.forest {
            forest.count(device, &mut launches)?;
        }
        for level in &levels {
            launches.tables(level.olt_entries, level.olt_bytes);
        }
        launches.peak_olt_bytes = launches.peak_olt_bytes.max(launches.table_bytes);
        control.check()?;
        self.last = Some(Finished { levels, launches, times });
        Ok(times)
    }

    /// Fills the dense array with a byte.
    fn poison(&self, byte: u8) -> Result<(), Error> {
        if let (Some(array), Some(_)) = (self.setup.array.buffer(), self.setup.dense) {
            array.set(byte)?;
            self.setup.device.synchronise("poisoning the dense array")?;
        }
        Ok(())
    }

    /// The last run.
    ///
    /// # Panics
    /// If nothing was run to its end.
    pub(super) fn last(&self) -> &Finished {
        self.last.as_ref().expect("a plan is run before it is asked about")
    }

    /// What the last run found and counted, from the level of its roots on.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if cells are missing of leaves; [`Error::Cuda`].
    pub(super) fn counts(&self) -> Result<Vec<(LevelRun, LevelCounts)>, Error> {
        let (setup, last) = (&self.setup, self.last());
        // Another thread may ask than ran it.
        setup.device.bind()?;
        let tallies = read_integers(setup.device, setup.tallies.address(), setup.tallies.bytes() / 8, 8)?;
        let of_level = tallies.chunks((TALLY_ROWS * TALLY_COLUMNS) as usize).skip(setup.start.level as usize);
        let (mut levels, mut totals, mut settled) = (Vec::new(), LevelCounts::default(), 0);
        for (run, tallies) in last.levels.iter().zip(of_level) {
            let mut counts = counts(run, tallies);
            if setup.how.tuning.strategy == StrategyKind::Exhaustive {
                // Its one region is the window.
                (counts.leaves, counts.leaf_cells) = (1, counts.evaluated_cells);
            }
            // Leaves are counted by the kernel that finds them, and again by those that evaluate them (streams: by the warp that takes their tile).
            settled += counts.evaluated_cells + tally(tallies, TALLY_KNOWN);
            totals += counts;
            levels.push((*run, counts));
        }
        if setup.how.kept.keep != Keep::Counts && settled != totals.leaf_cells {
            let seen = u128::from(totals.filled_cells) + u128::from(settled);
            return Err(Error::Incomplete { seen, total: setup.start.cells });
        }
        Ok(levels)
    }

    /// The terminal regions of the last run and the cells of its leaves, in any order.
    pub(super) fn collect(&self) -> Result<(Vec<Terminal>, Gathering<'_>), Error> {
        let Setup { device, storage, .. } = &self.setup;
        device.bind()?;
        let (terminals, left) = self.program.collect(&self.setup)?;
        Ok((terminals, Gathering::new(device, left, storage.cell)))
    }

    /// Where the regions of the last run lie in their order, if they do.
    pub(super) fn regions(&self) -> Option<RegionsLeft> {
        self.program.regions(&self.setup)
    }

    /// Feeds the bytes of the dense array, if one is kept, to `sink`, in storage order; it is told the number of the first byte.
    pub(super) fn cells(&self, sink: TakeBytes<'_>) -> Result<(), Error> {
        self.setup.device.bind()?;
        read(self.setup.device, self.setup.array.address(), self.setup.dense.unwrap_or(0), sink)
    }

    /// The checksum of the last run's dense array.
    pub(super) fn checksum(&self) -> Result<Option<String>, Error> {
        self.last();
        let hash = |_| {
            let mut checksum = Checksum::default();
            // CUDA's hosts are little-endian, as checksums are.
            self.cells(&mut |_, bytes| {
                checksum.add(bytes);
                Ok(())
            })?;
            Ok(checksum.text())
        };
        self.setup.dense.map(hash).transpose()
    }
}

/// What makes the host program of a run.
fn maker(setup: &Setup<'_>) -> Maker {
    strategy::of(&setup.outline, &setup.twin, &setup.how)
}

/// Bytes that a run of a share of the plan is expected to take on the device: its arrays, tallies and tables; what tables really take
/// is found out as they grow.
fn on_device(setup: &Setup<'_>, share: f64, estimate: &Estimate) -> u128 {
    let Setup { outline, how, .. } = setup;
    let bricks = if how.kept.keep == Keep::Regions { estimate.compact } else { 0 };
    let maker = maker(setup);
    let tables = (maker.table_bytes)(outline, how) as f64 * (maker.table_share)(share.min(1.0));
    setup.held() + estimate.dense + bricks + tables as u128
}

/// A level's counts from its tallies.
fn counts(run: &LevelRun, tallies: &[u64]) -> LevelCounts {
    let sum = |column| tally(tallies, column);
    LevelCounts {
        regions: run.regions,
        subdivided: run.subdivided,
        filled: sum(TALLY_FILLED),
        proven: sum(TALLY_PROVEN),
        leaves: sum(TALLY_LEAVES),
        explored_cells: sum(TALLY_EXPLORED),
        filled_cells: sum(TALLY_FILLED_CELLS),
        leaf_cells: sum(TALLY_LEAF_CELLS),
        evaluated_cells: sum(TALLY_EVALUATED),
        label_sum: sum(TALLY_LABELS),
    }
}
