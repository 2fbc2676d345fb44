//! A plan on a device: compiled, allocated once, run as often as one likes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use cudarc::driver::CudaStream;

use super::ask::Ask;
use super::device::{Argument, Device};
use super::dp::{self, Dp};
use super::error::CudaError;
use super::exhaustive::Exhaustive;
use super::launcher::Launcher;
use super::memory::{Allocation, Buffer, read, read_integers};
use super::specialise::{
    RunArgs, TALLY_COLUMNS, TALLY_EVALUATED, TALLY_EXPLORED, TALLY_FILLED, TALLY_FILLED_CELLS, TALLY_LABELS,
    TALLY_LEAF_CELLS, TALLY_LEAVES, TALLY_ROWS,
};
use super::terminals::Terminals;
use super::twin;
use crate::cpu::Control;
use crate::device::{DeviceStruct, DeviceTwin, padded};
use crate::engine::{check_choices, complete};
use crate::error::Error;
use crate::field::{Cells, Field};
use crate::how::{How, Keep, ParallelScheme, Table};
use crate::memory::Estimate;
use crate::plan::{Level, Plan};
use crate::strategy::StrategyKind;
use crate::subdivision::{Launches, LevelCounts, LevelKernels, LevelStats, Subdivision, Terminal};
use crate::workload::Workload;

/// What every host program works with.
pub(super) struct Job<'a, const K: usize> {
    pub(super) device: &'a Device,
    pub(super) plan: &'a Plan<K>,
    pub(super) workload: &'a dyn Workload<K>,
    pub(super) how: &'a How,
    pub(super) twin: DeviceTwin,
    pub(super) run: Argument,
    pub(super) field: Argument,
    dense: Option<Buffer>,
    tallies: Buffer,
    /// Arrays of the workload, alive as long as kernels may read them.
    _arrays: Vec<Buffer>,
}

/// What a program tells of one level of its last run.
#[derive(Debug, Clone, Copy)]
pub(super) struct LevelRun {
    pub(super) regions: u64,
    pub(super) subdivided: u64,
    pub(super) olt_entries: u64,
    pub(super) olt_bytes: u64,
    pub(super) kernels: LevelKernels,
    pub(super) time: Option<Duration>,
}

/// A host program with its kernels and tables.
pub(super) trait Program<const K: usize> {
    /// One run, up to the last kernel.
    fn run(&mut self, job: &Job<'_, K>, launcher: &mut Launcher<'_>, control: &Control) -> Result<(), Error>;

    /// What the last run found per level, when it is done; adds what only the device counted to `launches`.
    fn levels(&self, job: &Job<'_, K>, launches: &mut Launches) -> Result<Vec<LevelRun>, Error>;

    /// The terminal regions of the last run and the cells of its leaves.
    fn collect(&self, job: &Job<'_, K>) -> Result<(Vec<Terminal>, Cells), Error>;

    /// The levels that a run may reach.
    fn lattices(&self, job: &Job<'_, K>) -> Vec<Level<K>>;

    /// Reads the tables of the last run and does nothing with them; false if there are none.
    fn decode(&self, job: &Job<'_, K>, launcher: &mut Launcher<'_>) -> Result<bool, Error>;
}

/// A plan on a device, ready to run.
pub struct Session<'a, const K: usize> {
    job: Job<'a, K>,
    program: Box<dyn Program<K> + 'a>,
    /// Streams for stacks of launches, made when they are first needed.
    streams: Vec<Arc<CudaStream>>,
    last: Option<Finished>,
}

struct Finished {
    levels: Vec<LevelRun>,
    launches: Launches,
    device: Duration,
    host: Duration,
}

impl<'a, const K: usize> Session<'a, K> {
    /// Compiles the kernels and allocates what the plan certainly needs.
    ///
    /// # Errors
    /// [`Error::Input`] if the choices do not go together or the workload has no device twin; [`Error::Memory`] before
    /// any work if the estimate exceeds the host's limit or the device's free memory; [`Error::Cuda`].
    pub fn new(
        device: &'a Device,
        plan: &'a Plan<K>,
        workload: &'a dyn Workload<K>,
        how: &'a How,
    ) -> Result<Self, Error> {
        check_choices(workload, how)?;
        let twin = twin::checked(workload, how)?;
        let estimate = Estimate::new(plan, workload, how);
        estimate.check(how.mem_limit)?;
        // What an earlier session freed comes back with the next synchronisation.
        device.synchronise("waiting for the GPU")?;
        let (free, _) = device.memory()?;
        let need = on_device(plan, &twin, workload, how, &estimate);
        if need > u128::from(free) {
            return Err(Error::DeviceMemory { what: "arrays and tables", need, free });
        }
        let (field, arrays) = twin::upload(device, &twin)?;
        let dense = match how.keep {
            Keep::Dense => Some(Buffer::new(device, "the dense array", estimate.dense as u64, Allocation::Pool)?),
            Keep::Regions | Keep::Counts => None,
        };
        let run = RunArgs { field: dense.as_ref().map_or(0, Buffer::address), size: padded(plan.domain().size()) };
        let rows = plan.levels().len() as u64 * u64::from(TALLY_ROWS * TALLY_COLUMNS);
        let job = Job {
            device,
            plan,
            workload,
            how,
            run: Argument::new(&run.bytes()),
            field,
            dense,
            tallies: Buffer::new(device, "tallies", rows * 8, Allocation::Pool)?,
            _arrays: arrays,
            twin,
        };
        let program: Box<dyn Program<K> + 'a> = match how.strategy {
            StrategyKind::Exhaustive => Box::new(Exhaustive::new(&job)?),
            StrategyKind::Ask => Box::new(Ask::new(&job)?),
            StrategyKind::Dp => Box::new(Dp::new(&job)?),
        };
        let session = Self { job, program, streams: Vec::new(), last: None };
        session.poison()?;
        Ok(session)
    }

    /// Overwrites the dense array with ones in every bit, so that a cell that is never written shows: no label below 65535
    /// looks like that.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn poison(&self) -> Result<(), Error> {
        if let Some(dense) = &self.job.dense {
            dense.set(0xff)?;
            self.job.device.synchronise("poisoning the dense array")?;
        }
        Ok(())
    }

    /// One run. Returns the device's time, from before the first kernel to after the last, host decisions between them
    /// included.
    ///
    /// # Errors
    /// [`Error::Interrupted`], [`Error::Memory`] if tables outgrow the device, [`Error::Cuda`].
    pub fn run(&mut self, control: &Control) -> Result<Duration, Error> {
        let job = &self.job;
        let limit = job.how.max_kernels.unwrap_or(job.device.concurrent_kernels());
        self.last = None;
        control.check()?;
        let mut launcher = Launcher::new(job.device, limit, control, &mut self.streams);
        let start = Instant::now();
        let from = job.device.mark()?;
        job.tallies.set(0)?;
        self.program.run(job, &mut launcher, control)?;
        let to = job.device.mark()?;
        job.device.synchronise("running kernels")?;
        let host = start.elapsed();
        let device = elapsed(&from, &to)?;
        let mut launches = launcher.launches;
        let levels = self.program.levels(job, &mut launches)?;
        self.last = Some(Finished { levels, launches, device, host });
        control.check()?;
        Ok(device)
    }

    /// The time it takes on the device to read the tables of the last run and find their regions, and nothing else: what
    /// decoding costs. None for programs without tables. The outcomes are overwritten, so nothing can be collected after
    /// it but another run.
    ///
    /// # Errors
    /// [`Error::Cuda`].
    pub fn time_decoding(&mut self) -> Result<Option<Duration>, Error> {
        let control = Control::default();
        let mut launcher = Launcher::new(self.job.device, 1, &control, &mut self.streams);
        let from = self.job.device.mark()?;
        if !self.program.decode(&self.job, &mut launcher)? {
            return Ok(None);
        }
        let to = self.job.device.mark()?;
        self.job.device.synchronise("running kernels")?;
        self.last = None;
        Ok(Some(elapsed(&from, &to)?))
    }

    /// Launches of the last run, and the most bytes that its tables took at once; nothing if there was none.
    pub fn launches(&self) -> Launches {
        let peak = |run: &Finished| run.levels.iter().map(|level| level.olt_bytes).max().unwrap_or(0);
        self.last.as_ref().map_or(Launches::default(), |run| Launches {
            peak_olt_bytes: peak(run).max(run.launches.peak_olt_bytes),
            ..run.launches
        })
    }

    /// What the caller waited for the last run; zero if there was none.
    pub fn wall(&self) -> Duration {
        self.last.as_ref().map_or(Duration::ZERO, |run| run.host)
    }

    /// The result of the last run, on the host.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if a cell is missing; [`Error::Memory`], [`Error::Cuda`].
    ///
    /// # Panics
    /// If nothing was run.
    pub fn finish(self) -> Result<Subdivision<K>, Error> {
        let summary = self.summary()?;
        let (terminals, bricks) = self.program.collect(&self.job)?;
        let field = match &self.job.dense {
            Some(dense) => {
                let mut field = Field::zeroed(self.job.plan.domain(), self.job.how.cell);
                let width = self.job.how.cell.bytes();
                read(self.job.device, dense.address(), dense.bytes(), |start, bytes| {
                    field.store((start / width) as usize, bytes);
                    Ok(())
                })?;
                Some(field)
            }
            None => None,
        };
        Ok(Subdivision { terminals, bricks, field, ..summary })
    }

    /// The counts of the last run, without its regions and cells.
    ///
    /// # Errors
    /// [`Error::Incomplete`] if a cell is missing; [`Error::Cuda`].
    ///
    /// # Panics
    /// If nothing was run.
    pub fn summary(&self) -> Result<Subdivision<K>, Error> {
        let last = self.last.as_ref().expect("a session is run before it is summed up");
        let Self { job, program, .. } = self;
        let tallies = read_integers(job.device, job.tallies.address(), job.tallies.bytes() / 8, 8)?;
        let lattices = program.lattices(job);
        let peak = last.levels.iter().map(|level| level.olt_bytes).max().unwrap_or(0);
        let levels: Vec<LevelStats<K>> = (last.levels.iter().zip(lattices).enumerate())
            .map(|(i, (run, level))| {
                let mut counts = counts(run, &tallies[i * (TALLY_ROWS * TALLY_COLUMNS) as usize..]);
                if job.how.strategy == StrategyKind::Exhaustive {
                    // Its one region is the domain.
                    (counts.leaves, counts.leaf_cells) = (1, counts.evaluated_cells);
                }
                LevelStats {
                    level,
                    counts,
                    olt_entries: run.olt_entries,
                    olt_bytes: run.olt_bytes,
                    kernels: run.kernels,
                    time: run.time,
                }
            })
            .collect();
        let totals = levels.iter().fold(LevelCounts::default(), |mut total, level| {
            total += level.counts;
            total
        });
        // Leaves are counted by the kernel that finds them, and again by those that evaluate them.
        if job.how.keep != Keep::Counts && totals.evaluated_cells != totals.leaf_cells {
            let seen = u128::from(totals.filled_cells) + u128::from(totals.evaluated_cells);
            return Err(Error::Incomplete { seen, total: job.plan.domain().cells() });
        }
        complete(Subdivision {
            plan: job.plan.clone(),
            levels,
            terminals: Vec::new(),
            bricks: Cells::zeroed(job.how.cell, 0),
            field: None,
            launches: Launches { peak_olt_bytes: peak.max(last.launches.peak_olt_bytes), ..last.launches },
            time: last.host,
            device_time: Some(last.device),
        })
    }
}

impl<const K: usize> Job<'_, K> {
    /// Forgets what was counted.
    pub(super) fn reset_tallies(&self) -> Result<(), CudaError> {
        self.tallies.set(0)
    }

    /// The address of a level's tallies.
    pub(super) fn tallies(&self, level: u32) -> u64 {
        self.tallies.address() + u64::from(level * TALLY_ROWS * TALLY_COLUMNS) * 8
    }
}

/// Bytes that a run is expected to take on the device: its arrays, tallies and tables; what tables really take is found
/// out as they grow.
fn on_device<const K: usize>(
    plan: &Plan<K>,
    twin: &DeviceTwin,
    workload: &dyn Workload<K>,
    how: &How,
    estimate: &Estimate,
) -> u128 {
    let arrays: u128 = twin.arrays.iter().map(|array| array.bytes.len() as u128).sum();
    let tallies = plan.levels().len() as u128 * u128::from(TALLY_ROWS * TALLY_COLUMNS) * 8;
    if how.strategy == StrategyKind::Exhaustive {
        return estimate.dense + arrays + tallies;
    }
    let code = match how.table {
        Table::Coordinates => 4 * K as u128,
        Table::Scalars => u128::from(plan.code_bytes(plan.levels().len() as u32 - 1)),
    };
    let regions: f64 = plan.expected_regions(workload.boundary_dimension()).iter().sum();
    let bricks = if how.keep == Keep::Regions { estimate.compact } else { 0 };
    let (per_region, tables) = match how.strategy {
        StrategyKind::Dp => (Terminals::bytes(how.keep, code), dp::table_bytes(plan, workload, how, code)),
        // Of every level that is kept: a code, an outcome and the lists of MBR.
        _ => (code + 4 + if how.scheme == ParallelScheme::Mbr { 8 } else { 0 }, 0),
    };
    estimate.dense + arrays + tallies + tables + regions as u128 * per_region + bricks
}

/// The time between two marks that were reached.
pub(super) fn elapsed(from: &cudarc::driver::CudaEvent, to: &cudarc::driver::CudaEvent) -> Result<Duration, CudaError> {
    let ms = from.elapsed_ms(to).map_err(|error| super::driver::refused("reading an event's time", error))?;
    Ok(Duration::from_secs_f64(f64::from(ms) / 1e3))
}

/// A column of a level's tallies, added up.
pub(super) fn tally(tallies: &[u64], column: u32) -> u64 {
    (0..TALLY_ROWS).map(|row| tallies[(row * TALLY_COLUMNS + column) as usize]).fold(0, u64::wrapping_add)
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
