//! A plan on a device: compiled, allocated once, run as often as one likes.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::CudaStream;

use super::args::{
    TALLY_COLUMNS, TALLY_EVALUATED, TALLY_EXPLORED, TALLY_FILLED, TALLY_FILLED_CELLS, TALLY_KNOWN, TALLY_LABELS,
    TALLY_LEAF_CELLS, TALLY_LEAVES, TALLY_PROVEN, TALLY_ROWS,
};
use super::device::{Device, elapsed};
use super::launcher::Launcher;
use super::limits;
use super::memory::{Reserve, read, read_integers};
use super::setup::{Setup, tally};
use super::strategy::{self, LevelRun, Program};
use super::twin;
use super::watch::Watch;
use crate::backend::{Control, Error, Estimate, How, Mapping, Part, Prepared, Sink, Start, StrategyKind, deliver};
use crate::field::Field;
use crate::geometry::Level;
use crate::plan::Plan;
use crate::result::{Checksum, Keep, Launches, LevelCounts, LevelStats, RunCounts, Subdivision, Times};

/// A dense array is filled with this byte when it is allocated, so that a cell that is never written mostly shows;
/// [`How::poison`] makes sure.
const POISON: u8 = 0xff;

/// A plan on a device, ready to run.
pub(super) struct OnCuda<'a, const K: usize> {
    // Dropped before what its kernels read.
    program: Box<dyn Program<K>>,
    setup: Setup<'a, K>,
    /// Streams for stacks of launches, made when they are first needed.
    streams: Vec<Arc<CudaStream>>,
    /// The most bytes that a run was found to have room for.
    fits: u128,
    /// Nobody chose the mapping: another does, where this one has no way to carry out a part.
    open: bool,
    /// Why another did.
    instead: Option<Error>,
    last: Option<Finished>,
}

struct Finished {
    levels: Vec<LevelRun>,
    launches: Launches,
    times: Times,
}

impl<'a, const K: usize> OnCuda<'a, K> {
    pub(super) fn new(device: &'a Device, plan: &Plan<K>, field: &'a dyn Field<K>, how: &How) -> Result<Self, Error> {
        let storage = how.check(field.labels())?;
        let twin = twin::checked(field, how.on_cuda().block)?;
        how.check_proofs(plan.rule(), twin.has_proofs())?;
        let mapping = how.tuning.mapping.unwrap_or_else(|| strategy::usual(plan, field, &twin, how));
        let open = how.tuning.mapping.is_none() && mapping != Mapping::Sbr;
        let setup = Setup::new(device, plan, field, (&how.clone().mapping(Some(mapping)), storage), twin)?;
        let program = (strategy::of(&setup.how).program)(&setup)?;
        let fits = setup.held();
        Ok(Self { program, setup, streams: Vec::new(), fits, open, instead: None, last: None })
    }

    /// Makes ready for a run of a part; by a block per region where the mapping was left open and the one that was taken cannot carry it
    /// out, or has no room: its memory follows from whole lattices.
    fn ready(&mut self, part: &Part<'_, K>) -> Result<(), Error> {
        match self.aim(part) {
            Err(error) if self.open => self.give_way(error, part),
            done => done,
        }
    }

    /// Makes ready for a run by a block per region, if `error` is one that it may not meet.
    fn give_way(&mut self, error: Error, part: &Part<'_, K>) -> Result<(), Error> {
        if !matches!(
            error,
            Error::Choice(_) | Error::Unsupported { .. } | Error::DeviceMemory { .. } | Error::Memory(_)
        ) {
            return Err(error);
        }
        let taken = self.setup.how.tuning.mapping.replace(Mapping::Sbr);
        match (strategy::of(&self.setup.how).program)(&self.setup) {
            Ok(program) => self.program = program,
            Err(error) => {
                self.setup.how.tuning.mapping = taken;
                return Err(error);
            }
        }
        (self.open, self.instead) = (false, Some(error));
        self.setup.array = Reserve::default();
        self.fits = self.setup.held();
        self.aim(part)
    }

    /// Makes ready for a run of a part, if it fits the plan and the memory.
    fn aim(&mut self, part: &Part<'_, K>) -> Result<(), Error> {
        let Setup { device, plan, field, how, .. } = &self.setup;
        let start = Start::new(plan, false, part)?;
        let start = match how.tuning.strategy {
            StrategyKind::Exhaustive => start.exhaustive(part)?,
            _ if start.len() > limits::MOST => return Err(limits::too_many_regions(start.level, start.len().into())),
            _ => start,
        };
        let mut estimate = Estimate::from(plan, *field, how, &start);
        if how.tuning.mapping() == Mapping::Stream {
            estimate.olt = (strategy::of(how).table_bytes)(plan, *field, how);
        }
        estimate.check(how.mem_limit)?;
        let need = on_device(&self.setup, &start, &estimate);
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
        let new = self.setup.aim(start, dense)?;
        self.program.aim(&self.setup)?;
        // Without a poison, what no root covers could be left from another window.
        match chosen.or((!whole).then_some(0)).or(new.then_some(POISON)) {
            Some(byte) => self.poison(byte),
            None => Ok(()),
        }
    }

    /// A run from where it is ready.
    fn attempt(&mut self, control: &Control) -> Result<Times, Error> {
        let Self { setup, program, streams, .. } = self;
        let device = setup.device;
        let limit = setup.how.tuning.max_kernels.map_or(device.concurrent_kernels(), |most| most as usize);
        let _pending = match program.launches_from_device() {
            true => Some(device.pending_launches(setup.cuda.pending_launches)?),
            false => None,
        };
        let watch = Watch { device, control, flag: &setup.stop };
        let mut launcher = Launcher::new(limit, &watch, streams);
        let start = Instant::now();
        let from = device.mark()?;
        setup.reset_tallies()?;
        program.run(setup, &mut launcher)?;
        let to = device.mark()?;
        watch.wait("running kernels")?;
        let times = Times { wall: start.elapsed(), device: Some(elapsed(&from, &to)?) };
        let mut launches = launcher.launches;
        let levels = program.levels(setup, &mut launches)?;
        let peak = levels.iter().map(|level| level.olt_bytes).max().unwrap_or(0);
        launches.peak_olt_bytes = launches.peak_olt_bytes.max(peak);
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

    /// Regions and cells, by way of the host.
    fn deliver(&self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let Setup { plan, start, storage, .. } = &self.setup;
        let (terminals, bricks) = self.program.collect(&self.setup)?;
        deliver(plan, terminals, bricks, sink)?;
        let width = storage.cell.bytes();
        self.cells(|first, bytes| sink.cells(&start.window, first / width, bytes))
    }

    fn last(&self) -> &Finished {
        self.last.as_ref().expect("a plan is run before it is asked about")
    }

    /// Feeds the bytes of the dense array, if one is kept, to `sink`, in storage order.
    fn cells(&self, sink: impl FnMut(u64, &[u8]) -> Result<(), Error>) -> Result<(), Error> {
        read(self.setup.device, self.setup.array.address(), self.setup.dense.unwrap_or(0), sink)
    }
}

impl<const K: usize> Prepared<K> for OnCuda<'_, K> {
    fn run(&mut self, part: &Part<'_, K>, control: &Control) -> Result<Times, Error> {
        self.last = None;
        control.check()?;
        self.setup.device.bind()?;
        self.ready(part)?;
        match self.attempt(control) {
            // How much memory bricks take is known when their level is decided.
            Err(error) if self.open => {
                self.give_way(error, part)?;
                self.attempt(control)
            }
            done => done,
        }
    }

    fn mapping(&self) -> Mapping {
        self.setup.how.tuning.mapping()
    }

    fn instead(&self) -> Option<&Error> {
        self.instead.as_ref()
    }

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        let (setup, last) = (&self.setup, self.last());
        let tallies = read_integers(setup.device, setup.tallies.address(), setup.tallies.bytes() / 8, 8)?;
        let of_level = |level: &Level<K>| &tallies[(level.index * TALLY_ROWS * TALLY_COLUMNS) as usize..];
        let levels: Vec<LevelStats<K>> = (last.levels.iter().zip(self.program.lattices(setup)))
            .map(|(run, level)| {
                let mut counts = counts(run, of_level(&level));
                if setup.how.tuning.strategy == StrategyKind::Exhaustive {
                    // Its one region is the window.
                    (counts.leaves, counts.leaf_cells) = (1, counts.evaluated_cells);
                }
                let LevelRun { olt_entries, olt_bytes, kernels, time, .. } = *run;
                LevelStats { level, counts, olt_entries, olt_bytes, kernels, time }
            })
            .collect();
        let counts = RunCounts { levels, launches: last.launches, times: last.times };
        let (totals, total) = (counts.totals(), setup.start.cells);
        // Leaves are counted by the kernel that finds them, and again by those that evaluate them (streams: by the warp that takes their tile).
        let known: u64 = counts.levels.iter().map(|level| tally(of_level(&level.level), TALLY_KNOWN)).sum();
        let settled = totals.evaluated_cells + known;
        if setup.how.kept.keep != Keep::Counts && settled != totals.leaf_cells {
            let seen = u128::from(totals.filled_cells) + u128::from(settled);
            return Err(Error::Incomplete { seen, total });
        }
        counts.complete(total).map_err(|seen| Error::Incomplete { seen, total })?;
        Ok(counts)
    }

    fn result(&mut self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        self.counts()?;
        self.deliver(sink)
    }

    fn subdivision(&mut self) -> Result<Subdivision<K>, Error> {
        let Setup { plan, start, storage, .. } = &self.setup;
        let mut all = Subdivision::new(plan.clone(), start.window, start.cells, self.counts()?, storage.cell);
        self.deliver(&mut all)?;
        Ok(all)
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        self.last();
        let hash = |_| {
            let mut checksum = Checksum::default();
            // CUDA's hosts are little-endian, as checksums are.
            self.cells(|_, bytes| {
                checksum.add(bytes);
                Ok(())
            })?;
            Ok(checksum.text())
        };
        self.setup.dense.map(hash).transpose()
    }
}

/// Bytes that a run is expected to take on the device: its arrays, tallies and tables; what tables really take is found
/// out as they grow.
fn on_device<const K: usize>(setup: &Setup<'_, K>, start: &Start<'_, K>, estimate: &Estimate) -> u128 {
    let Setup { plan, field, how, .. } = setup;
    let bricks = if how.kept.keep == Keep::Regions { estimate.compact } else { 0 };
    let expected = |start: &Start<'_, K>| start.expected(plan, field.boundary_dimension()).iter().sum::<f64>();
    let share = expected(start) / expected(&Start::whole(plan));
    let maker = strategy::of(how);
    let tables = (maker.table_bytes)(plan, *field, how) as f64 * (maker.table_share)(share.min(1.0));
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
