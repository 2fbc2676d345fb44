//! Dynamic parallelism on CUDA: regions launch their children from the device, under a budget.
//!
//! The host launches the initial grid, and then a round for whatever found no credit, until nothing is left. Launches in
//! flight are counted in blocks; a budget of b launches stands for b families.

use super::device::{Device, Kernel, Kernels};
use super::launcher::Launcher;
use super::memory::{Allocation, Buffer, Pinned, Reserve, read, read_integers};
use super::session::{Job, LevelRun, Program};
use super::specialise::{
    DP_COUNTERS, DP_FAILED, DP_IN_PLACE, DP_LAUNCHES, DP_LEAVES, DP_MOST_IN_FLIGHT, DP_OVERFLOW, DP_REFUSED,
    DP_TERMINALS, DpArgs, LaunchArgs, SETTLE_IN_PLACE, SETTLE_LISTED, SETTLE_NONE, Specialisation, TALLY_COLUMNS,
    TALLY_ROWS, TALLY_SUBDIVIDED,
};
use crate::cpu::Control;
use crate::device::{DeviceStruct, DeviceTwin, padded};
use crate::error::Error;
use crate::field::Cells;
use crate::how::{How, Keep, ParallelScheme, Table};
use crate::olt::MIXED;
use crate::plan::{Level, Plan};
use crate::subdivision::Terminal;
use crate::workload::Workload;

/// Cells per thread of a block that shares a leaf (MBR), and of one that shares a fill.
const LEAF_CELLS: u64 = 4;
const FILL_CELLS: u64 = 64;

pub(super) struct Dp {
    roots: Kernel,
    round: Kernel,
    bricks: Kernel,
    code_bytes: u64,
    levels: Vec<LaunchArgs>,
    counters: Buffer,
    pinned: Pinned,
    overflow: [[Buffer; 2]; 2],
    /// The structs on the device; the two copies of `DpArgs` differ in which overflow table is which.
    structs: Vec<Buffer>,
    args: [Buffer; 2],
    terminals: Terminals,
    cells: Reserve,
    leaves: u64,
    /// Alive as long as kernels may read it.
    _starts: Option<Buffer>,
}

/// The lists of terminal regions on the device.
#[derive(Default)]
struct Terminals {
    capacity: u64,
    codes: Reserve,
    levels: Reserve,
    outcomes: Reserve,
    bricks: Reserve,
    leaf_codes: Reserve,
    count: u64,
}

impl Terminals {
    fn reserve(&mut self, device: &Device, capacity: u64, code_bytes: u64) -> Result<(), Error> {
        let what = "the list of terminal regions";
        for (list, width) in [
            (&mut self.codes, code_bytes),
            (&mut self.levels, 4),
            (&mut self.outcomes, 4),
            (&mut self.bricks, 4),
            (&mut self.leaf_codes, code_bytes),
        ] {
            list.ensure(device, what, capacity * width, Allocation::Pool)?;
        }
        self.capacity = capacity;
        Ok(())
    }
}

/// The kernels of a plan.
pub(super) fn specialise<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    twin: &DeviceTwin,
    how: &How,
) -> Specialisation {
    let deepest = plan.levels().len() as u32 - 1;
    let (curve, bits) = (plan.encoding().device(deepest), plan.encoding().bits(deepest));
    Specialisation::new("strategies/dp.cu", plan, workload, twin, how, &curve, bits)
}

impl Dp {
    pub(super) fn new<const K: usize>(job: &Job<'_, K>) -> Result<Self, Error> {
        let (plan, device) = (job.plan, job.device);
        if job.how.table == Table::Coordinates {
            return Err(Error::Input("--table coordinates: dp has no table; use ask".into()));
        }
        let roots = plan.levels()[0].regions();
        if roots > 1 << 31 {
            return Err(Error::Input(format!(
                "-g: level 0 has {roots} regions; the CUDA backend takes at most 2^31: use a smaller -g"
            )));
        }
        if let Some(launches) = job.how.pending_launches {
            device.set_pending_launches(launches)?;
        }
        let specialisation = specialise(plan, job.workload, &job.twin, job.how);
        let kernels: Kernels = device.kernels(&specialisation)?;
        let deepest = plan.levels().len() as u32 - 1;
        let starts: Vec<u8> = plan.encoding().device(deepest).starts.iter().flat_map(|s| s.to_ne_bytes()).collect();
        let starts = match &starts[..] {
            [] => None,
            starts => Some(Buffer::upload(device, "the curve's start states", starts)?),
        };
        let code_bytes = if plan.encoding().bits(deepest) > 32 { 8 } else { 4 };
        let room = u64::from(job.how.dp_overflow);
        let table = |width| Buffer::new(device, "an overflow table", room * width, Allocation::Pool);
        let overflow = [[table(code_bytes)?, table(4)?], [table(code_bytes)?, table(4)?]];
        let threads = u64::from(specialisation.threads());
        let levels = plan.levels().iter().map(|level| level_args(job, level, threads, starts.as_ref())).collect();
        let mut terminals = Terminals::default();
        if job.how.keep != Keep::Counts {
            let expected: f64 = plan.expected_regions(job.workload.boundary_dimension()).iter().sum();
            terminals.reserve(device, (expected as u64).clamp(1 << 16, 1 << 28), code_bytes)?;
        }
        let empty = || Buffer::new(device, "arguments", 512, Allocation::Pool);
        Ok(Self {
            roots: kernels.get("dp_roots")?,
            round: kernels.get("dp_round")?,
            bricks: kernels.get("dp_bricks")?,
            code_bytes,
            levels,
            counters: Buffer::new(device, "counters", u64::from(DP_COUNTERS) * 4, Allocation::Pool)?,
            pinned: Pinned::new(device, DP_COUNTERS as usize * 4)?,
            overflow,
            structs: Vec::new(),
            args: [empty()?, empty()?],
            terminals,
            cells: Reserve::default(),
            leaves: 0,
            _starts: starts,
        })
    }

    /// Puts all structs on the device.
    fn upload<const K: usize>(&mut self, job: &Job<'_, K>) -> Result<(), Error> {
        let device = job.device;
        let levels: Vec<u8> = self.levels.iter().flat_map(DeviceStruct::bytes).collect();
        self.structs = vec![
            Buffer::upload(device, "arguments", &job.run.bytes())?,
            Buffer::upload(device, "arguments", &levels)?,
            Buffer::upload(device, "arguments", &job.field.bytes())?,
        ];
        let children = job.plan.scheme().children();
        let kernels = job.how.max_kernels.unwrap_or(device.concurrent_kernels()) as u64;
        let launches = job.how.dp_budget.map_or(kernels, u64::from);
        for turn in 0..2 {
            let [here, there] = [&self.overflow[turn], &self.overflow[1 - turn]];
            let args = DpArgs {
                run: self.structs[0].address(),
                levels: self.structs[1].address(),
                field: self.structs[2].address(),
                counters: self.counters.address(),
                overflow: here[0].address(),
                overflow_levels: here[1].address(),
                taken: there[0].address(),
                taken_levels: there[1].address(),
                terminal_codes: self.terminals.codes.address(),
                terminal_levels: self.terminals.levels.address(),
                terminal_outcomes: self.terminals.outcomes.address(),
                terminal_bricks: self.terminals.bricks.address(),
                leaf_codes: self.terminals.leaf_codes.address(),
                capacity: job.how.dp_overflow,
                terminal_capacity: self.terminals.capacity as u32,
                budget: (launches * children).min(1 << 30) as u32,
                bricks_wanted: u32::from(job.how.keep == Keep::Regions),
            };
            self.args[turn] = Buffer::upload(device, "arguments", &args.bytes())?;
        }
        Ok(())
    }

    /// Waits for the device and reads the counters.
    fn counters<const K: usize>(&mut self, job: &Job<'_, K>) -> Result<Vec<u64>, Error> {
        let bytes = DP_COUNTERS as usize * 4;
        self.pinned.fetch(job.device, self.counters.address(), bytes)?;
        job.device.synchronise("running kernels that launch kernels")?;
        let words = self.pinned.bytes(bytes)?.chunks_exact(4);
        Ok(words.map(|word| u64::from(u32::from_ne_bytes(word.try_into().expect("four bytes")))).collect())
    }

    /// All rounds of one run; returns the counters at its end.
    fn rounds<const K: usize>(
        &mut self,
        job: &Job<'_, K>,
        launcher: &mut Launcher<'_>,
        control: &Control,
    ) -> Result<Vec<u64>, Error> {
        self.counters.set(0)?;
        let children = job.plan.scheme().children();
        let roots = job.plan.levels()[0].regions() as u64;
        let mut turn = 0;
        launcher.entry(&self.roots, roots, self.args[turn].address(), 0)?;
        loop {
            let counters = self.counters(job)?;
            control.check()?;
            let waiting = counters[DP_OVERFLOW as usize].min(u64::from(job.how.dp_overflow));
            if waiting == 0 {
                return Ok(counters);
            }
            turn = 1 - turn;
            self.counters.set_part(u64::from(DP_OVERFLOW) * 4, 4)?;
            launcher.entry(&self.round, waiting * children, self.args[turn].address(), 0)?;
        }
    }
}

/// What the kernels are told of a level.
fn level_args<const K: usize>(job: &Job<'_, K>, level: &Level<K>, threads: u64, starts: Option<&Buffer>) -> LaunchArgs {
    let last = job.plan.is_last(level.index);
    let (fill, leaf) = match (job.how.keep, job.how.scheme) {
        (Keep::Counts | Keep::Regions, _) => (SETTLE_NONE, SETTLE_NONE),
        (Keep::Dense, ParallelScheme::Sbr) => (SETTLE_IN_PLACE, SETTLE_IN_PLACE),
        (Keep::Dense, ParallelScheme::Mbr) => (SETTLE_LISTED, SETTLE_LISTED),
    };
    let pieces = |each: u64| level.most_cells().div_ceil(threads * each).clamp(1, 1 << 16) as u32;
    let mut args = LaunchArgs {
        level: level.index,
        last: u32::from(last),
        fill,
        leaf,
        pieces: pieces(FILL_CELLS),
        leaf_pieces: pieces(LEAF_CELLS),
        grid: padded(level.grid),
        side: padded(level.whole_sides()),
        tallies: job.tallies(level.index),
        ..LaunchArgs::default()
    };
    args.set_curve(&job.plan.encoding().device(level.index), starts.map_or(0, Buffer::address));
    args
}

impl<const K: usize> Program<K> for Dp {
    fn run(
        &mut self,
        job: &Job<'_, K>,
        launcher: &mut Launcher<'_>,
        control: &Control,
    ) -> Result<Vec<LevelRun>, Error> {
        if self.structs.is_empty() {
            self.upload(job)?;
        }
        let counters = loop {
            let counters = self.rounds(job, launcher, control)?;
            self.terminals.count = counters[DP_TERMINALS as usize];
            if self.terminals.count <= self.terminals.capacity {
                break counters;
            }
            // The list was too short, which only the count tells: once more, with room.
            self.terminals.reserve(job.device, self.terminals.count, self.code_bytes)?;
            self.upload(job)?;
            job.reset_tallies()?;
        };
        let count = |counter: u32| counters[counter as usize];
        launcher.launches.kernels += count(DP_LAUNCHES);
        let family = job.plan.scheme().children();
        let most = count(DP_MOST_IN_FLIGHT).div_ceil(family);
        launcher.launches.most_in_flight = launcher.launches.most_in_flight.max(most);
        launcher.launches.in_place += count(DP_IN_PLACE) + count(DP_REFUSED) + count(DP_FAILED);
        self.leaves = count(DP_LEAVES);
        if job.how.keep == Keep::Regions && self.leaves > 0 {
            let level = &job.plan.levels()[job.plan.levels().len() - 1];
            let bytes = self.leaves * level.most_cells() * job.how.cell.bytes();
            let cells = self.cells.ensure(job.device, "the bricks of leaves", bytes, Allocation::Pool)?;
            if level.whole_sides().contains(&0) {
                cells.set(0)?;
            }
            let args = self.levels.last_mut().expect("a plan has a level");
            (args.bricks, args.brick_cells) = (cells.address(), level.most_cells());
            self.upload(job)?;
            launcher.entry(&self.bricks, self.leaves, self.args[0].address(), u64::from(level.index))?;
        }
        job.device.synchronise("running kernels")?;
        let per_level = u64::from(TALLY_ROWS * TALLY_COLUMNS);
        let mut runs = Vec::new();
        let mut regions = job.plan.levels()[0].regions() as u64;
        for level in job.plan.levels() {
            let tallies = read_integers(job.device, job.tallies(level.index), per_level, 8)?;
            let column = tallies.chunks(TALLY_COLUMNS as usize).map(|row| row[TALLY_SUBDIVIDED as usize]);
            let subdivided: u64 = column.sum();
            runs.push(LevelRun { regions, subdivided, olt_entries: 0, olt_bytes: 0, time: None });
            regions = subdivided * family;
            if regions == 0 {
                break;
            }
        }
        Ok(runs)
    }

    fn collect(&self, job: &Job<'_, K>) -> Result<(Vec<Terminal>, Cells), Error> {
        let mut bricks = Cells::zeroed(job.how.cell, 0);
        let mut terminals = Vec::new();
        if job.how.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        let list = |list: &Reserve, width| read_integers(job.device, list.address(), self.terminals.count, width);
        let (codes, levels) = (list(&self.terminals.codes, self.code_bytes)?, list(&self.terminals.levels, 4)?);
        let (outcomes, places) = (list(&self.terminals.outcomes, 4)?, list(&self.terminals.bricks, 4)?);
        let last = &job.plan.levels()[job.plan.levels().len() - 1];
        let (most, width) = (last.most_cells(), job.how.cell.bytes());
        let kept = job.how.keep == Keep::Regions;
        let mut raw = Cells::zeroed(job.how.cell, if kept { (self.leaves * most) as usize } else { 0 });
        if kept {
            read(job.device, self.cells.address(), self.leaves * most * width, |start, bytes| {
                raw.store((start / width) as usize, bytes);
                Ok(())
            })?;
        }
        for (((code, level), outcome), place) in codes.into_iter().zip(levels).zip(outcomes).zip(places) {
            let level = level as u32;
            if outcome != u64::from(MIXED) {
                terminals.push(Terminal::uniform(level, code, outcome as u32));
                continue;
            }
            let brick = kept.then(|| {
                let start = (place * most) as usize;
                let brick = bricks.len() as u64;
                bricks.extend_from(&raw, start..start + job.plan.region(level, code).volume() as usize);
                brick
            });
            terminals.push(Terminal::leaf(level, code, brick));
        }
        Terminal::sort(&mut terminals);
        Ok((terminals, bricks))
    }

    fn decode(&self, _: &Job<'_, K>, _: &mut Launcher<'_>) -> Result<bool, Error> {
        Ok(false)
    }

    fn lattices(&self, job: &Job<'_, K>) -> Vec<Level<K>> {
        job.plan.levels().to_vec()
    }
}
