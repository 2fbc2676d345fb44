//! Dynamic parallelism on CUDA: work is launched from the device, under a budget.
//!
//! The host launches the initial grid, and then goes on with what the device could not do: families that found no credit
//! (`region`, `block`), or a level whose launch failed (`tail`), until nothing is left.

use crate::abi::DeviceStruct;
use crate::backend::{DpLaunch, Error, How, Pass, Table, Unsupported};
use crate::choice::ChoiceError;
use crate::cuda::args::{DpArgs, ExploreArgs};
use crate::cuda::balance::Settling;
use crate::cuda::constants::{
    COUNTER_DONE, COUNTER_MIXED, COUNTERS, DP_COUNTERS, DP_FAILED, DP_IN_PLACE, DP_LEAVES, DP_MOST_IN_FLIGHT,
    DP_MOST_PENDING, DP_OVERFLOW, DP_REFUSED, DP_TERMINALS, FROM_OVERFLOW, FROM_ROOTS, TALLY_COLUMNS, TALLY_FILL_GRIDS,
    TALLY_FILLED, TALLY_GRIDS, TALLY_LEAF_GRIDS, TALLY_LEAVES, TALLY_ROWS, TALLY_SUBDIVIDED,
};
use crate::cuda::gather::BricksLeft;
use crate::cuda::kernel::{Kernel, LoadedModule};
use crate::cuda::launcher::Launcher;
use crate::cuda::limits::{self, PENDING_PER_CREDIT};
use crate::cuda::memory::{Allocation, Buffer, Reserve, read_integers};
use crate::cuda::outline::Outline;
use crate::cuda::pinned::Pinned;
use crate::cuda::setup::{Setup, tally};
use crate::cuda::specialise::Specialisation;
use crate::cuda::strategy::definition::{LevelRun, MakeProgram, Program};
use crate::cuda::strategy::dp_setup::{self, expected_families, level_args};
use crate::cuda::strategy::dp_terminals::Terminals;
use crate::cuda::watch::Watch;
use crate::field::DeviceTwin;
use crate::result::{Keep, Launches, LevelKernels, Terminal};

/// The most credits: tickets are named by 24 bits.
const MOST_CREDITS: u64 = 1 << 22;

pub(super) struct DpProgram {
    explore: Kernel,
    bricks: Kernel,
    pub(super) sort: Kernel,
    pub(super) items: Kernel,
    pub(super) threads: u64,
    code_bytes: u64,
    pub(super) levels: Vec<ExploreArgs>,
    /// The run's counters, then those of every level.
    counters: Buffer,
    /// Grids that may be in flight, and their tickets.
    budget: u32,
    tickets: Buffer,
    pinned: Pinned,
    overflow: [[Buffer; 2]; 2],
    /// The tables of `tail`, which take turns, and the families that they hold.
    tables: [Reserve; 2],
    table_capacity: u64,
    /// What the last run came to.
    pub(super) ran: DpRun,
    /// The structs on the device, the addresses of the two `DpArgs`, which differ in what overflow table is which, and what
    /// they say of the run.
    structs: Vec<Buffer>,
    pub(super) args: [u64; 2],
    told: Vec<u8>,
    pub(super) terminals: Terminals,
    /// What settles the terminal regions from their list, if that is to be.
    pub(super) settling: Option<Settling>,
    /// Alive as long as kernels may read it.
    _starts: Option<Buffer>,
}

/// What one run came to.
#[derive(Default)]
pub(super) struct DpRun {
    /// At its end.
    counters: Vec<u64>,
    /// The host's launches per level, for rounds, and for bricks.
    host: Vec<u64>,
    rounds: u64,
    /// For what is settled at the end: bricks, or lists.
    pub(super) settled: u64,
    /// Families that overflowed, in all rounds and the most in one.
    overflowed: u64,
    most_waiting: u64,
}

impl DpRun {
    fn count(&self, counter: u32) -> u64 {
        self.counters[counter as usize]
    }

    /// A counter of a level.
    fn level(&self, level: usize, counter: u32) -> u64 {
        self.counters[DP_COUNTERS as usize + level * COUNTERS as usize + counter as usize]
    }
}

/// The word that tells a grid of the host where its regions come from (kernels/dp/credit.cuh).
fn origin(from: u32) -> u64 {
    u64::from(from) << 56
}

impl DpProgram {
    /// Makes the tables of `tail` and puts all structs on the device, unless they are there.
    pub(super) fn upload(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        let (device, roots) = (setup.device, setup.start.level as usize);
        if self.table_capacity > 0 {
            for table in &mut self.tables {
                table.ensure(device, "an OLT", self.table_capacity * self.code_bytes, Allocation::Pool)?;
            }
            for (level, args) in self.levels.iter_mut().enumerate() {
                args.base.families = if level == roots { 0 } else { self.tables[level % 2].address() };
                args.base.next = self.tables[(level + 1) % 2].address();
            }
        }
        let first = &mut self.levels[roots].base;
        first.regions = setup.start.len();
        (first.codes, first.code) = setup.roots();
        let levels: Vec<u8> = self.levels.iter().flat_map(DeviceStruct::bytes).collect();
        let (run, field) = (setup.run.bytes(), setup.args.bytes());
        let sizes = [setup.start.level.into(), self.table_capacity, self.terminals.capacity].map(u64::to_ne_bytes);
        let told = [&run[..], &field, &levels, sizes.as_flattened()].concat();
        if told == self.told {
            return Ok(());
        }
        self.told = told;
        self.structs = vec![
            Buffer::upload(device, "arguments", &run)?,
            Buffer::upload(device, "arguments", &levels)?,
            Buffer::upload(device, "arguments", &field)?,
        ];
        for turn in 0..2 {
            let [here, there] = [&self.overflow[turn], &self.overflow[1 - turn]];
            let mut args = DpArgs {
                run: self.structs[0].address(),
                levels: self.structs[1].address(),
                args: self.structs[2].address(),
                counters: self.counters.address(),
                stop: setup.stop.address(),
                overflow: here[0].address(),
                overflow_levels: here[1].address(),
                taken: there[0].address(),
                taken_levels: there[1].address(),
                capacity: setup.cuda.dp_overflow,
                tickets: self.tickets.address(),
                budget: self.budget,
                bricks_wanted: u32::from(setup.how.kept.keep == Keep::Regions),
                table_capacity: self.table_capacity as u32,
                max_grid: device.max_grid() as u32,
                root_level: setup.start.level,
                ..DpArgs::default()
            };
            self.terminals.describe(&mut args);
            let args = Buffer::upload(device, "arguments", &args.bytes())?;
            self.args[turn] = args.address();
            self.structs.push(args);
        }
        Ok(())
    }

    /// Waits for the device and reads the counters.
    fn counters(&mut self, setup: &Setup<'_>, watch: &Watch<'_>) -> Result<Vec<u64>, Error> {
        let bytes = self.counters.bytes() as usize;
        self.pinned.fetch(&setup.device.stream, self.counters.address(), bytes)?;
        watch.wait("running kernels that launch kernels")?;
        let words = self.pinned.bytes(bytes)?.chunks_exact(4);
        Ok(words.map(|word| u64::from(u32::from_ne_bytes(word.try_into().expect("four bytes")))).collect())
    }

    /// `region` and `block`: the roots, and rounds for what overflowed.
    fn rounds(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<DpRun, Error> {
        // Regions of a block: one, or a family.
        let (family, each) = match setup.cuda.dp_launch {
            DpLaunch::Region => (setup.outline.children, 1),
            DpLaunch::Block | DpLaunch::Tail => (1, setup.outline.children),
        };
        let roots = setup.start.len();
        let mut ran = DpRun { host: vec![0; setup.outline.levels.len()], ..DpRun::default() };
        ran.host[setup.start.level as usize] =
            launcher.entry(&self.explore, roots.div_ceil(each), self.args[0], origin(FROM_ROOTS))?;
        let mut turn = 0;
        loop {
            let counters = self.counters(setup, launcher.watch)?;
            launcher.watch.check()?;
            let waiting = counters[DP_OVERFLOW as usize].min(u64::from(setup.cuda.dp_overflow));
            if waiting == 0 {
                return Ok(DpRun { counters, ..ran });
            }
            ran.overflowed += waiting;
            ran.most_waiting = ran.most_waiting.max(waiting);
            turn = 1 - turn;
            self.counters.set_part(u64::from(DP_OVERFLOW) * 4, 4)?;
            ran.rounds += launcher.entry(&self.explore, waiting * family, self.args[turn], origin(FROM_OVERFLOW))?;
        }
    }

    /// `tail`: the level of the roots, and every level that the device could not launch.
    fn tails(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<DpRun, Error> {
        let children = setup.outline.children;
        let mut host = vec![0; setup.outline.levels.len()];
        let first = (setup.start.level as usize, setup.start.len());
        let (mut level, mut regions) = first;
        loop {
            host[level] = launcher.entry(&self.explore, regions, self.args[0], level as u64)?;
            let counters = self.counters(setup, launcher.watch)?;
            launcher.watch.check()?;
            let ran = DpRun { counters, host: host.clone(), ..DpRun::default() };
            let families = |level: usize| ran.level(level, COUNTER_MIXED);
            // The first level that has families, but did not begin.
            let open = (first.0 + 1..host.len()).find(|&i| families(i - 1) > 0 && ran.level(i, COUNTER_DONE) == 0);
            let Some(open) = open else { return Ok(ran) };
            let most = families(open - 1);
            (level, regions) = (open, most * children);
            if regions > limits::MOST {
                return Err(limits::too_many_regions(level as u32, u128::from(regions)));
            }
            if most > self.table_capacity {
                // Only the count tells how long the table has to be: from the start, with room for twice as many.
                self.table_capacity = (2 * most).min(limits::MOST);
                self.restart(setup, launcher)?;
                host.fill(0);
                (level, regions) = first;
            }
        }
    }

    /// Forgets what was counted, with lists as long as they have to be.
    fn restart(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        launcher.launches = Launches::default();
        self.upload(setup)?;
        setup.reset()?;
        self.counters.set(0)?;
        Ok(())
    }
}

impl MakeProgram for DpProgram {
    fn new(setup: &Setup<'_>) -> Result<Self, Error> {
        let (outline, device, cuda) = (&setup.outline, setup.device, &setup.cuda);
        if cuda.table == Table::Coordinates {
            return Err(ChoiceError::new("table", "coordinates", "dp keeps scalars only; use ask").into());
        }
        limits::check(outline, &setup.how)?;
        if let Some(launches) = cuda.pending_launches.filter(|&launches| u64::from(launches) < PENDING_PER_CREDIT) {
            let reason = format!("at least {PENDING_PER_CREDIT} are needed, for one launch in flight");
            return Err(ChoiceError::new("pending-launches", launches, reason).into());
        }
        let pending = cuda.pending_launches.map_or_else(|| device.pending_limit(), |launches| Ok(launches.into()))?;
        let kernels = setup.how.tuning.max_kernels.map_or(device.concurrent_kernels() as u64, u64::from);
        let wanted = cuda.dp_budget.map_or(kernels, u64::from);
        let budget = wanted.min(pending / PENDING_PER_CREDIT).clamp(1, MOST_CREDITS);
        let specialisation = <Self as MakeProgram>::specialise(outline, &setup.twin, &setup.how)?;
        let image: LoadedModule = device.kernels(&specialisation)?;
        let starts = setup.starts(&outline.deepest())?;
        let code_bytes = outline.code_bytes();
        let tail = setup.cuda.dp_launch == DpLaunch::Tail;
        let room = if tail { 0 } else { u64::from(setup.cuda.dp_overflow) };
        let table = |width| Buffer::new(device, "an overflow table", room * width, Allocation::Pool);
        let overflow = [[table(code_bytes)?, table(4)?], [table(code_bytes)?, table(4)?]];
        let threads = u64::from(specialisation.threads());
        let words = u64::from(DP_COUNTERS) + outline.levels.len() as u64 * u64::from(COUNTERS);
        let counters = Buffer::new(device, "counters", words * 4, Allocation::Pool)?;
        let mut levels: Vec<ExploreArgs> =
            outline.levels.iter().map(|level| level_args(setup, level, threads, starts.as_ref())).collect();
        for (level, args) in levels.iter_mut().enumerate() {
            args.counters = counters.address() + (u64::from(DP_COUNTERS) + level as u64 * u64::from(COUNTERS)) * 4;
        }
        let explore = match setup.cuda.dp_launch {
            DpLaunch::Region => "dp_region",
            DpLaunch::Block => "dp_block",
            DpLaunch::Tail => "dp_level",
        };
        Ok(Self {
            explore: image.get(explore)?,
            bricks: image.get("dp_bricks")?,
            sort: image.get("dp_sort")?,
            items: image.get("dp_items")?,
            threads,
            code_bytes,
            levels,
            pinned: Pinned::new(&device.context, words as usize * 4)?,
            counters,
            budget: budget as u32,
            tickets: Buffer::new(device, "tickets", 2 * budget * 4, Allocation::Pool)?,
            overflow,
            tables: Default::default(),
            table_capacity: if tail { expected_families(outline) } else { 0 },
            ran: DpRun::default(),
            structs: Vec::new(),
            args: [0, 0],
            told: Vec::new(),
            terminals: Terminals::default(),
            settling: Settling::new(setup)?,
            _starts: starts,
        })
    }

    fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error> {
        let specialisation = Specialisation::of_levels("strategies/dp.cu", outline, twin, how, None);
        Ok(specialisation.taking::<ExploreArgs>("ExploreArgs").taking::<DpArgs>("DpArgs"))
    }

    fn table_bytes(outline: &Outline<'_>, how: &How) -> u128 {
        dp_setup::table_bytes(outline, how)
    }
}

impl Program for DpProgram {
    fn launches_from_device(&self) -> bool {
        true
    }

    fn aim(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        if setup.how.kept.keep != Keep::Counts {
            let expected = setup.expected as u64;
            self.terminals.reserve(setup, expected.clamp(1 << 12, 1 << 28), self.code_bytes)?;
        }
        if let Some(settling) = &mut self.settling {
            settling.aim(setup)?;
        }
        self.upload(setup)
    }

    fn run(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        self.counters.set(0)?;
        self.tickets.set(0)?;
        loop {
            self.ran = match setup.cuda.dp_launch {
                DpLaunch::Region | DpLaunch::Block => self.rounds(setup, launcher)?,
                DpLaunch::Tail => self.tails(setup, launcher)?,
            };
            self.terminals.count = self.ran.count(DP_TERMINALS);
            if self.terminals.count <= self.terminals.capacity {
                break;
            }
            // The list was too short, which only the count tells: once more, with room.
            self.terminals.reserve(setup, self.terminals.count, self.code_bytes)?;
            self.restart(setup, launcher)?;
        }
        if setup.how.kept.keep == Keep::Dense && setup.how.tuning.pass_on_cuda() != Pass::InPlace {
            return self.settle_listed(setup, launcher);
        }
        self.terminals.leaves = self.ran.count(DP_LEAVES);
        let last = setup.outline.last();
        if setup.how.kept.keep == Keep::Regions && self.terminals.leaves > 0 {
            let address = self.terminals.bricks.reserve(setup, last, self.terminals.leaves)?;
            let args = self.levels.last_mut().expect("a plan has a level");
            if args.bricks != address {
                (args.bricks, args.brick_cells) = (address, last.most_cells());
                self.upload(setup)?;
            }
            let level = u64::from(last.index);
            self.ran.settled = launcher.entry(&self.bricks, self.terminals.leaves, self.args[0], level)?;
        }
        Ok(())
    }

    fn levels(&self, setup: &Setup<'_>, launches: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        let count = |counter| self.ran.count(counter);
        let children = setup.outline.children;
        launches.most_in_flight = count(DP_MOST_IN_FLIGHT);
        (launches.credits, launches.rounds) = (self.budget.into(), self.ran.rounds);
        let waiting = self.ran.most_waiting * (self.code_bytes + 4);
        launches.peak_olt_bytes = waiting;
        launches.tables(self.ran.most_waiting, waiting);
        launches.most_pending = count(DP_MOST_PENDING);
        (launches.refused, launches.failed) = (count(DP_REFUSED), count(DP_FAILED));
        (launches.overflowed, launches.in_place) = (self.ran.overflowed, count(DP_IN_PLACE));
        let per_level = u64::from(TALLY_ROWS * TALLY_COLUMNS);
        let (mut runs, mut terminal) = (Vec::<LevelRun>::new(), 0);
        let (first, mut regions) = (setup.start.level, setup.start.len());
        for (level, &host) in setup.outline.levels.iter().zip(&self.ran.host).skip(first as usize) {
            let tallies = read_integers(setup.device, setup.tallies(level.index), per_level, 8)?;
            let from_device = LevelKernels {
                explore: tally(&tallies, TALLY_GRIDS),
                insert: 0,
                fill: tally(&tallies, TALLY_FILL_GRIDS),
                leaf: tally(&tallies, TALLY_LEAF_GRIDS),
            };
            launches.kernels += from_device.explore + from_device.fill + from_device.leaf;
            let kernels = LevelKernels { explore: from_device.explore + host, ..from_device };
            let subdivided = tally(&tallies, TALLY_SUBDIVIDED);
            terminal += tally(&tallies, TALLY_FILLED) + tally(&tallies, TALLY_LEAVES);
            let olt_entries = match setup.cuda.dp_launch {
                DpLaunch::Tail if level.index > first => regions / children + subdivided,
                DpLaunch::Tail => subdivided,
                DpLaunch::Region | DpLaunch::Block => 0,
            };
            let olt_bytes = olt_entries * self.code_bytes;
            runs.push(LevelRun { regions, subdivided, olt_entries, olt_bytes, kernels, time: None });
            regions = subdivided * children;
            if regions == 0 {
                break;
            }
        }
        // What is settled at the end is done with the deepest level.
        runs.last_mut().expect("a plan has a level").kernels.leaf += self.ran.settled;
        if setup.how.kept.keep != Keep::Counts && terminal != self.terminals.count {
            let what = Unsupported::Terminals { regions: terminal };
            return Err(Error::Unsupported { backend: "cuda", what });
        }
        Ok(runs)
    }

    fn collect(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        self.terminals.collect(setup, self.code_bytes)
    }
}
