//! A plan on a device: compiled, allocated once, run as often as one likes.

use std::sync::Arc;
use std::time::Instant;

use cudarc::driver::CudaStream;

use super::device::{Device, elapsed};
use super::launcher::Launcher;
use super::memory::{Buffer, read, read_integers};
use super::setup::{Setup, tally};
use super::specialise::{
    TALLY_COLUMNS, TALLY_EVALUATED, TALLY_EXPLORED, TALLY_FILLED, TALLY_FILLED_CELLS, TALLY_LABELS, TALLY_LEAF_CELLS,
    TALLY_LEAVES, TALLY_ROWS,
};
use super::strategy::{self, LevelRun, Program};
use super::twin;
use super::watch::Watch;
use crate::backend::{Control, Error, Estimate, How, Prepared, StrategyKind};
use crate::field::{DeviceTwin, Field};
use crate::plan::Plan;
use crate::result::{
    Checksum, DenseArray, Keep, Launches, LevelCounts, LevelStats, RunCounts, Stored, Subdivision, Times,
};

/// A dense array is filled with this byte when a plan is prepared, so that a cell that is never written shows: no dwell
/// below 65535 looks like that.
const POISON: u8 = 0xff;

/// A plan on a device, ready to run.
pub(super) struct OnCuda<'a, const K: usize> {
    // Dropped before what its kernels read.
    program: Box<dyn Program<K>>,
    setup: Setup<'a, K>,
    /// Streams for stacks of launches, made when they are first needed.
    streams: Vec<Arc<CudaStream>>,
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
        let estimate = Estimate::new(plan, field, how);
        estimate.check(how.mem_limit)?;
        // What was freed before comes back with the next synchronisation.
        device.synchronise("waiting for the GPU")?;
        let (free, _) = device.memory()?;
        let need = on_device(plan, &twin, field, how, &estimate);
        if need > u128::from(free) {
            return Err(Error::DeviceMemory { what: "arrays and tables", need, free });
        }
        let dense = (how.kept.keep == Keep::Dense).then_some(estimate.dense as u64);
        let setup = Setup::new(device, plan, field, (how, storage), twin, dense)?;
        let prepared = Self {
            program: (strategy::of(setup.how.tuning.strategy).program)(&setup)?,
            setup,
            streams: Vec::new(),
            last: None,
        };
        prepared.poison(how.poison.unwrap_or(POISON))?;
        Ok(prepared)
    }

    /// Fills the dense array with a byte.
    fn poison(&self, byte: u8) -> Result<(), Error> {
        if let Some(array) = &self.setup.array {
            array.set(byte)?;
            self.setup.device.synchronise("poisoning the dense array")?;
        }
        Ok(())
    }

    fn last(&self) -> &Finished {
        self.last.as_ref().expect("a plan is run before it is asked about")
    }

    /// Feeds the bytes of the dense array to `sink`, in storage order.
    fn cells(&self, array: &Buffer, mut sink: impl FnMut(u64, &[u8])) -> Result<(), Error> {
        read(self.setup.device, array.address(), array.bytes(), |start, bytes| {
            sink(start, bytes);
            Ok(())
        })
    }
}

impl<const K: usize> Prepared<K> for OnCuda<'_, K> {
    fn run(&mut self, control: &Control) -> Result<Times, Error> {
        self.last = None;
        control.check()?;
        self.setup.device.bind()?;
        if let Some(byte) = self.setup.how.poison {
            self.poison(byte)?;
        }
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

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        let (setup, last) = (&self.setup, self.last());
        let tallies = read_integers(setup.device, setup.tallies.address(), setup.tallies.bytes() / 8, 8)?;
        let levels: Vec<LevelStats<K>> = (last.levels.iter().zip(self.program.lattices(setup)).enumerate())
            .map(|(i, (run, level))| {
                let mut counts = counts(run, &tallies[i * (TALLY_ROWS * TALLY_COLUMNS) as usize..]);
                if setup.how.tuning.strategy == StrategyKind::Exhaustive {
                    // Its one region is the domain.
                    (counts.leaves, counts.leaf_cells) = (1, counts.evaluated_cells);
                }
                let LevelRun { olt_entries, olt_bytes, kernels, time, .. } = *run;
                LevelStats { level, counts, olt_entries, olt_bytes, kernels, time }
            })
            .collect();
        let counts = RunCounts { levels, launches: last.launches, times: last.times };
        let (totals, total) = (counts.totals(), setup.plan.domain().cells());
        // Leaves are counted by the kernel that finds them, and again by those that evaluate them.
        if setup.how.kept.keep != Keep::Counts && totals.evaluated_cells != totals.leaf_cells {
            let seen = u128::from(totals.filled_cells) + u128::from(totals.evaluated_cells);
            return Err(Error::Incomplete { seen, total });
        }
        counts.complete(total).map_err(|seen| Error::Incomplete { seen, total })?;
        Ok(counts)
    }

    fn result(&mut self) -> Result<Subdivision<K>, Error> {
        let counts = self.counts()?;
        let (terminals, bricks) = self.program.collect(&self.setup)?;
        let cell = self.setup.storage.cell;
        let read = |buffer: &Buffer| {
            let mut array = DenseArray::zeroed(Stored::Dense, self.setup.plan.domain().size(), cell)?;
            self.cells(buffer, |start, bytes| array.store((start / cell.bytes()) as usize, bytes))?;
            Ok::<_, Error>(array)
        };
        let array = self.setup.array.as_ref().map(read).transpose()?;
        Ok(Subdivision { plan: self.setup.plan.clone(), counts, terminals, bricks, array })
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        self.last();
        let hash = |buffer: &Buffer| {
            let mut checksum = Checksum::default();
            // CUDA's hosts are little-endian, as checksums are.
            self.cells(buffer, |_, bytes| checksum.add(bytes))?;
            Ok(checksum.text())
        };
        self.setup.array.as_ref().map(hash).transpose()
    }
}

/// Bytes that a run is expected to take on the device: its arrays, tallies and tables; what tables really take is found
/// out as they grow.
fn on_device<const K: usize>(
    plan: &Plan<K>,
    twin: &DeviceTwin,
    field: &dyn Field<K>,
    how: &How,
    estimate: &Estimate,
) -> u128 {
    let arrays: u128 = twin.arrays.iter().map(|array| array.bytes.len() as u128).sum();
    let tallies = plan.levels().len() as u128 * u128::from(TALLY_ROWS * TALLY_COLUMNS) * 8;
    let bricks = if how.kept.keep == Keep::Regions { estimate.compact } else { 0 };
    estimate.dense + arrays + tallies + bricks + (strategy::of(how.tuning.strategy).table_bytes)(plan, field, how)
}

/// A level's counts from its tallies.
fn counts(run: &LevelRun, tallies: &[u64]) -> LevelCounts {
    let sum = |column| tally(tallies, column);
    LevelCounts {
        regions: run.regions,
        subdivided: run.subdivided,
        filled: sum(TALLY_FILLED),
        leaves: sum(TALLY_LEAVES),
        explored_cells: sum(TALLY_EXPLORED),
        filled_cells: sum(TALLY_FILLED_CELLS),
        leaf_cells: sum(TALLY_LEAF_CELLS),
        evaluated_cells: sum(TALLY_EVALUATED),
        label_sum: sum(TALLY_LABELS),
    }
}
