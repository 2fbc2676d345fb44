//! Adaptive Serial Kernels on CUDA (ASK paper, §5): one kernel per level over a double-buffered OLT.
//!
//! The host reads one thing back per level, the number of mixed regions, which sizes the next level's tables and
//! launch. Tables are kept from run to run; [`AskLoop::Paper`](crate::backend::AskLoop) allocates and frees them per level instead, as the
//! published code does.

use cudarc::driver::CudaEvent;

use crate::backend::{AskLoop, Error, How, Insertion, Pass, Shared, Stack, StrategyKind, Table};
use crate::cuda::args::{AskArgs, ExploreArgs, LaunchArgs};
use crate::cuda::balance::Settling;
use crate::cuda::constants::{
    COUNTER_FILLS, COUNTER_LEAVES, COUNTER_MIXED, COUNTERS, SETTLE_IN_PLACE, SETTLE_LISTED, SETTLE_NONE,
};
use crate::cuda::device::elapsed;
use crate::cuda::gather::BricksLeft;
use crate::cuda::kernel::{Kernel, LoadedModule};
use crate::cuda::launcher::Launcher;
use crate::cuda::limits;
use crate::cuda::memory::{Allocation, Buffer, Reserve};
use crate::cuda::native;
use crate::cuda::outline::Outline;
use crate::cuda::pinned::Pinned;
use crate::cuda::setup::Setup;
use crate::cuda::specialise::{COORDINATES, Specialisation};
use crate::cuda::strategy::bricks::DeviceBricks;
use crate::cuda::strategy::definition::{LevelRun, MakeProgram, Program};
use crate::cuda::watch::Watch;
use crate::dimension::MAX_DIM;
use crate::field::DeviceTwin;
use crate::geometry::Level;
use crate::result::{Keep, Launches, LevelKernels, Terminal};

/// Stable insertion: the most pieces whose ranks are added up, and the fewest regions of a thread.
const MOST_PIECES: u64 = 4096;
const LEAST_ROUNDS: u64 = 8;

/// What the host waits for.
const KERNELS: &str = "running the kernels of a level";

pub(super) struct AskProgram {
    explore: Kernel,
    leaf: Kernel,
    items: Kernel,
    rank: Kernel,
    place: Kernel,
    threads: u64,
    pub(super) code_bytes: u64,
    starts: Option<Buffer>,
    counters: Buffer,
    pinned: Pinned,
    /// Per level; two that take turns if nothing but counts is kept.
    pub(super) tables: Vec<LevelTables>,
    /// What the last run found per level, and the marks before, between and after its levels.
    pub(super) runs: Vec<LevelRun>,
    marks: Vec<CudaEvent>,
    pub(super) leaves: u64,
    pub(super) bricks: DeviceBricks,
    /// What settles lists, if there are any.
    settling: Option<Settling>,
}

/// What the device holds of a level.
#[derive(Default)]
pub(super) struct LevelTables {
    /// The OLT: the codes of the parents of the level's families. Written by the level before; not there for roots.
    pub(super) families: Reserve,
    pub(super) mixed: Reserve,
    pub(super) values: Reserve,
    ranks: Reserve,
    fills: Reserve,
    pub(super) leaves: Reserve,
}

impl AskProgram {
    /// How the terminal regions of a run are settled: uniform ones, leaves.
    fn settles(setup: &Setup<'_>) -> (u32, u32) {
        match (setup.how.kept.keep, setup.how.tuning.pass_on_cuda()) {
            (Keep::Counts, _) => (SETTLE_NONE, SETTLE_NONE),
            (Keep::Regions, _) => (SETTLE_NONE, SETTLE_LISTED),
            (Keep::Dense, Pass::InPlace) => (SETTLE_IN_PLACE, SETTLE_IN_PLACE),
            (Keep::Dense, Pass::Level | Pass::Deferred) => (SETTLE_LISTED, SETTLE_LISTED),
        }
    }

    /// Launches one level; `regions` are its regions.
    fn level(
        &mut self,
        setup: &Setup<'_>,
        launcher: &mut Launcher<'_>,
        level: &Level<MAX_DIM>,
        regions: u64,
        kernels: &mut LevelKernels,
    ) -> Result<AskArgs, Error> {
        let (device, outline) = (setup.device, &setup.outline);
        let last = outline.is_last(level.index);
        let how = match setup.cuda.ask_loop {
            AskLoop::Lean => Allocation::Pool,
            AskLoop::Paper => Allocation::Immediate,
        };
        let (fill, leaf) = Self::settles(setup);
        let shared = Shared::of(StrategyKind::Ask);
        let stable = setup.how.tuning.insertion == Insertion::Stable && !last;
        let (here, next) = (self.slot(level.index), self.slot(level.index + 1));
        let mut launch = LaunchArgs {
            regions,
            level: level.index,
            last: u32::from(last),
            grid: outline.padded(level.grid),
            side: outline.padded(level.whole_sides()),
            tallies: setup.tallies(level.index),
            ..LaunchArgs::default()
        };
        launch.set_curve(&outline.typed.curve(level.index), self.starts.as_ref().map_or(0, Buffer::address));
        if !last {
            let families = &mut self.tables[next].families;
            launch.next =
                families.ensure(device, "the OLT of the next level", regions * self.code_bytes, how)?.address();
        }
        let tables = &mut self.tables[here];
        match level.index > setup.start.level {
            true => launch.families = tables.families.address(),
            false => (launch.codes, launch.code) = setup.roots(),
        }
        let mut explore = ExploreArgs {
            base: launch,
            counters: self.counters.address() + u64::from(level.index * COUNTERS) * 4,
            fill,
            leaf,
            pieces: match fill {
                SETTLE_IN_PLACE => setup.pieces(level, self.threads, if last { shared.leaf } else { shared.fill }),
                _ => 1,
            },
            ..ExploreArgs::default()
        };
        let kept = setup.how.kept.keep != Keep::Counts;
        let mixed = match stable || kept {
            true => tables.mixed.ensure(device, "what is mixed of a level", regions, how)?.address(),
            false => 0,
        };
        if kept {
            let bytes = regions * setup.value_bytes();
            explore.values = tables.values.ensure(device, "the values of a level", bytes, how)?.address();
        }
        if fill == SETTLE_LISTED {
            explore.fills = tables.fills.ensure(device, "the list of fills", regions * 4, how)?.address();
        }
        if leaf == SETTLE_LISTED && last {
            explore.leaves = tables.leaves.ensure(device, "the list of leaves", regions * 4, how)?.address();
        }
        let args = AskArgs { base: explore, mixed, stable: u32::from(stable), ..AskArgs::default() };
        kernels.explore = Self::shared(setup, launcher, &self.explore, regions, args)?;
        if stable {
            let rounds = regions.div_ceil(self.threads * MOST_PIECES).max(LEAST_ROUNDS);
            let pieces = regions.div_ceil(self.threads * rounds);
            let ranks = tables.ranks.ensure(device, "the ranks of a level", pieces * 4, how)?;
            ranks.set(0)?;
            let base = ExploreArgs { pieces: rounds as u32, ..args.base };
            let args = AskArgs { base, ranks: ranks.address(), ..args };
            kernels.insert = launcher.fold(&self.rank, pieces, &setup.run, &args, &setup.args)?;
            kernels.insert += launcher.fold(&self.place, pieces, &setup.run, &args, &setup.args)?;
        }
        Ok(args)
    }

    /// Reads a level's counters back.
    fn counters(&mut self, setup: &Setup<'_>, watch: &Watch<'_>, args: &AskArgs) -> Result<[u64; 3], Error> {
        let bytes = COUNTERS as usize * 4;
        self.pinned.fetch(&setup.device.stream, args.base.counters, bytes)?;
        watch.wait(KERNELS)?;
        let words = self.pinned.bytes(bytes)?;
        let word = |i: u32| {
            let at = i as usize * 4;
            u64::from(u32::from_ne_bytes(words[at..at + 4].try_into().expect("four bytes")))
        };
        Ok([word(COUNTER_MIXED), word(COUNTER_LEAVES), word(COUNTER_FILLS)])
    }

    /// Settles what the level listed, or leaves it to the end.
    fn settle_listed(
        &mut self,
        setup: &Setup<'_>,
        launcher: &mut Launcher<'_>,
        level: &Level<MAX_DIM>,
        args: AskArgs,
        [leaves, fills]: [u64; 2],
        kernels: &mut LevelKernels,
    ) -> Result<(), Error> {
        if let Some(settling) = &mut self.settling {
            settling.add(setup, level, fills, ExploreArgs { leaves: 0, ..args.base })?;
            settling.add(setup, level, leaves, ExploreArgs { fills: 0, ..args.base })?;
            if setup.how.tuning.pass_on_cuda() == Pass::Level {
                [kernels.fill, kernels.leaf] = self.settle_balanced(setup, launcher)?;
            }
        } else if leaves > 0 {
            kernels.leaf = self.evaluate_bricks(setup, launcher, level, args, leaves)?;
        }
        Ok(())
    }

    /// Evaluates leaves into bricks, by blocks of their own; returns the number of launches.
    fn evaluate_bricks(
        &mut self,
        setup: &Setup<'_>,
        launcher: &mut Launcher<'_>,
        level: &Level<MAX_DIM>,
        args: AskArgs,
        leaves: u64,
    ) -> Result<u64, Error> {
        let bricks = self.bricks.reserve(setup, level, leaves)?;
        let pieces = setup.pieces(level, self.threads, Shared::of(StrategyKind::Ask).leaf);
        let base = LaunchArgs { regions: leaves, ..args.base.base };
        let base = ExploreArgs { base, pieces, fills: 0, bricks, brick_cells: level.most_cells(), ..args.base };
        Self::shared(setup, launcher, &self.leaf, leaves, AskArgs { base, ..args })
    }

    /// Launches `pieces` blocks for each of so many entries; returns the number of launches.
    fn shared(
        setup: &Setup<'_>,
        launcher: &mut Launcher<'_>,
        kernel: &Kernel,
        entries: u64,
        args: AskArgs,
    ) -> Result<u64, Error> {
        if setup.cuda.stack != Stack::Grid3d {
            return launcher.fold(kernel, entries * u64::from(args.base.pieces), &setup.run, &args, &setup.args);
        }
        let blocks = native::cube(args.base.pieces);
        let base = ExploreArgs { pieces: blocks.iter().product(), ..args.base };
        let args = AskArgs { base, blocks, ..args };
        launcher.native(kernel, native::most(blocks), &mut native::entries(entries, args), &setup.run, &setup.args)
    }

    /// Settles what was listed by a balancer; returns the number of launches for uniform regions and for leaves.
    fn settle_balanced(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<[u64; 2], Error> {
        let (items, threads) = (&self.items, self.threads);
        let Some(settling) = &mut self.settling else { return Ok([0; 2]) };
        settling.settle(setup, launcher, false, &mut |launcher, list, parts| {
            let args = AskArgs { base: list[0], parts, ..AskArgs::default() };
            launcher.fold(items, args.base.listed.div_ceil(threads), &setup.run, &args, &setup.args)
        })
    }

    pub(super) fn slot(&self, level: u32) -> usize {
        level as usize % self.tables.len()
    }
}

impl MakeProgram for AskProgram {
    fn new(setup: &Setup<'_>) -> Result<Self, Error> {
        let (outline, device) = (&setup.outline, setup.device);
        limits::check(outline, &setup.how)?;
        let specialisation = <Self as MakeProgram>::specialise(outline, &setup.twin, &setup.how)?;
        let kernels: LoadedModule = device.kernels(&specialisation)?;
        let levels = outline.levels.len();
        Ok(Self {
            explore: kernels.get("ask_explore")?,
            leaf: kernels.get("ask_leaf")?,
            items: kernels.get("ask_items")?,
            rank: kernels.get("ask_rank")?,
            place: kernels.get("ask_place")?,
            threads: u64::from(specialisation.threads()),
            code_bytes: outline.entry_bytes(setup.cuda.table),
            starts: setup.starts(&setup.outline.deepest())?,
            counters: Buffer::new(device, "counters", levels as u64 * u64::from(COUNTERS) * 4, Allocation::Pool)?,
            pinned: Pinned::new(&device.context, COUNTERS as usize * 4)?,
            tables: (0..if setup.how.kept.keep == Keep::Counts { 2 } else { levels.max(2) })
                .map(|_| LevelTables::default())
                .collect(),
            runs: Vec::new(),
            marks: Vec::new(),
            leaves: 0,
            bricks: DeviceBricks::default(),
            settling: Settling::new(setup)?,
        })
    }

    fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error> {
        let header = (how.on_cuda().table == Table::Coordinates).then_some(COORDINATES);
        let specialisation = Specialisation::of_levels("strategies/ask.cu", outline, twin, how, header);
        Ok(specialisation.taking::<ExploreArgs>("ExploreArgs").taking::<AskArgs>("AskArgs"))
    }

    fn table_bytes(outline: &Outline<'_>, how: &How) -> u128 {
        let regions: f64 = outline.expected.iter().sum();
        let lists = match (how.kept.keep, how.tuning.pass_on_cuda()) {
            (Keep::Counts, _) | (Keep::Dense, Pass::InPlace) => 0,
            (Keep::Regions, _) => 4,
            (Keep::Dense, Pass::Level | Pass::Deferred) => 8,
        };
        regions as u128
            * u128::from(
                outline.entry_bytes(how.on_cuda().table)
                    + 1
                    + outline.labels.kind().bytes().max(4)
                    + lists
                    + Settling::bytes_per_region(outline, how),
            )
    }
}

impl Program for AskProgram {
    fn aim(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        self.settling.as_mut().map_or(Ok(()), |settling| settling.aim(setup))
    }

    fn run(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        let watch = launcher.watch;
        self.marks.clear();
        self.runs.clear();
        self.leaves = 0;
        self.settling.iter_mut().for_each(Settling::clear);
        self.counters.set(0)?;
        self.marks.push(setup.device.mark()?);
        let mut regions = setup.start.len();
        for level in &setup.outline.levels[setup.start.level as usize..] {
            watch.check()?;
            if setup.cuda.ask_loop == AskLoop::Paper {
                // Freeing memory waits too, but hears nothing.
                watch.wait(KERNELS)?;
            }
            if regions > limits::MOST {
                return Err(limits::too_many_regions(level.index, u128::from(regions)));
            }
            let last = setup.outline.is_last(level.index);
            let mut kernels = LevelKernels::default();
            let args = self.level(setup, launcher, level, regions, &mut kernels)?;
            let listed = args.base.fill == SETTLE_LISTED || (last && args.base.leaf == SETTLE_LISTED);
            let mut mixed = 0;
            if !last || listed {
                let [found, leaves, fills] = self.counters(setup, watch, &args)?;
                mixed = found;
                self.leaves = leaves;
                self.settle_listed(setup, launcher, level, args, [leaves, fills], &mut kernels)?;
            }
            if self.settling.as_ref().is_none_or(Settling::is_empty) {
                // What is not settled are the mixed regions, a share of the level's lattice.
                let open = setup.outline.whole.cells as f64 * mixed as f64 / level.regions() as f64;
                watch.control.reach((setup.start.cells as f64 - open) as u64);
            }
            self.marks.push(setup.device.mark()?);
            let read = if level.index == setup.start.level { 0 } else { regions / setup.outline.children };
            self.runs.push(LevelRun {
                regions,
                subdivided: mixed,
                olt_entries: read + mixed,
                olt_bytes: (read + mixed) * self.code_bytes,
                kernels,
                time: None,
            });
            regions = mixed * setup.outline.children;
            if regions == 0 {
                break;
            }
        }
        // The deepest level is not done before.
        let deferred: u64 = self.settle_balanced(setup, launcher)?.iter().sum();
        if deferred > 0 {
            self.runs.last_mut().expect("a plan has a level").kernels.leaf += deferred;
            *self.marks.last_mut().expect("one before the levels") = setup.device.mark()?;
        }
        Ok(())
    }

    fn levels(&self, _: &Setup<'_>, _: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        let timed = self.runs.iter().zip(self.marks.windows(2));
        timed.map(|(run, marks)| Ok(LevelRun { time: Some(elapsed(&marks[0], &marks[1])?), ..*run })).collect()
    }

    fn collect(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        self.terminals(setup)
    }
}
