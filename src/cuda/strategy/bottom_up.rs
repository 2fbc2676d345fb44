//! The stream of an array: from the cells up (kernels/strategies/bottom_up.cu).
//!
//! The pyramid says what every region is when a run begins. What is left is to list the terminal ones in the order of their codes, and to
//! copy the cells of leaves. The host waits once, to hear how many there are.

use crate::backend::{Error, How, StrategyKind};
use crate::cuda::args::{LaunchArgs, PyramidListArgs};
use crate::cuda::constants::{TALLY_COLUMNS, TALLY_FILLED, TALLY_LEAVES, TALLY_ROWS, TALLY_SUBDIVIDED};
use crate::cuda::gather::BricksLeft;
use crate::cuda::kernel::Kernel;
use crate::cuda::launcher::Launcher;
use crate::cuda::limits;
use crate::cuda::memory::{Allocation, Buffer, Reserve, read_integers};
use crate::cuda::outline::Outline;
use crate::cuda::pyramid;
use crate::cuda::setup::{Setup, tally};
use crate::cuda::specialise::Specialisation;
use crate::cuda::strategy::bricks::DeviceBricks;
use crate::cuda::strategy::definition::{LevelRun, MakeProgram, Program, RegionsLeft};
use crate::cuda::survey;
use crate::dimension::MAX_DIM;
use crate::field::DeviceTwin;
use crate::geometry::Level;
use crate::result::{Keep, Launches, LevelKernels, Terminal};
use crate::rule::RuleKind;

/// The most pieces of a level whose ranks are added up, and the fewest regions of a thread.
const MOST_PIECES: u64 = 4096;
const LEAST_ROUNDS: u64 = 4;

/// Threads that copy a brick, at most.
const MOST_LANES: u64 = 256;

/// A brick that is none: the region is uniform.
const NO_BRICK: u64 = u64::MAX;

/// What the host waits for.
const KERNELS: &str = "listing the regions of an array";

/// True if a run is one of these: its field is an array, proofs decide as every cell does, the pyramid reaches the last level, and the
/// roots are a range of codes.
pub(super) fn serves(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> bool {
    let tuning = &how.tuning;
    twin.surveyed
        && !outline.scattered
        && tuning.strategy == StrategyKind::Ask
        && how.kept.keep != Keep::Dense
        && (outline.rule == RuleKind::Full || outline.rule.certifies())
        && tuning.asks_proofs(outline.rule)
        && pyramid::depth(outline) == outline.levels.len()
}

pub(super) struct BottomUpProgram {
    rank: Kernel,
    place: Kernel,
    copy: Kernel,
    threads: u64,
    starts: Option<Buffer>,
    /// A number per piece and level.
    ranks: Reserve,
    /// The lists: codes, words and the first cells of bricks.
    codes: Reserve,
    words: Reserve,
    places: Reserve,
    bricks: DeviceBricks,
    /// What the last run found, by level.
    found: Vec<FoundOfLevel>,
    launched: Vec<LevelKernels>,
}

/// How many regions of a level are what.
#[derive(Debug, Clone, Copy, Default)]
struct FoundOfLevel {
    filled: u64,
    leaves: u64,
}

impl FoundOfLevel {
    /// Regions that are not divided.
    fn terminal(self) -> u64 {
        self.filled + self.leaves
    }
}

impl BottomUpProgram {
    /// The launch over a level's codes.
    fn args(&self, setup: &Setup<'_>, level: &Level<MAX_DIM>, (code, regions): (u64, u64)) -> PyramidListArgs {
        let pyramid = setup.pyramid.as_ref().expect("a run of an array that asks for proofs has one");
        let rounds = regions.div_ceil(self.threads * MOST_PIECES).max(LEAST_ROUNDS);
        let known = survey::args(setup, pyramid, level);
        let mut base = LaunchArgs { code, regions, ..known.base };
        base.set_curve(&setup.outline.typed.curve(level.index), self.starts.as_ref().map_or(0, Buffer::address));
        PyramidListArgs {
            base,
            map_first: known.map_first,
            ranks: self.ranks.address() + u64::from(level.index) * MOST_PIECES * 8,
            root_level: setup.start.level,
            rounds: rounds as u32,
            width: known.width as u32,
            ..PyramidListArgs::default()
        }
    }

    /// Blocks of such a launch.
    fn pieces(&self, args: &PyramidListArgs) -> u64 {
        args.base.regions.div_ceil(self.threads * u64::from(args.rounds))
    }

    /// The levels of a run, each with its first code and how many regions it has below the roots.
    fn levels<'s>(setup: &'s Setup<'_>) -> impl Iterator<Item = (&'s Level<MAX_DIM>, (u64, u64))> {
        let (outline, start) = (&setup.outline, &setup.start);
        let mut codes = (start.first().unwrap_or(0), start.len());
        outline.levels[start.level as usize..].iter().map(move |level| {
            let here = codes;
            // Of the level below the last there is no code that is asked for.
            codes = (codes.0.saturating_mul(outline.children), codes.1.saturating_mul(outline.children));
            (level, here)
        })
    }

    /// Reads how many regions are what.
    fn hear(&mut self, setup: &Setup<'_>, launcher: &Launcher<'_>) -> Result<(), Error> {
        launcher.watch.wait(KERNELS)?;
        let tallies = read_integers(setup.device, setup.tallies.address(), setup.tallies.bytes() / 8, 8)?;
        let of_level = tallies.chunks((TALLY_ROWS * TALLY_COLUMNS) as usize).skip(setup.start.level as usize);
        self.found = of_level
            .map(|tallies| FoundOfLevel { filled: tally(tallies, TALLY_FILLED), leaves: tally(tallies, TALLY_LEAVES) })
            .collect();
        Ok(())
    }

    /// Terminal regions of all levels, and leaves.
    fn totals(&self) -> (u64, u64) {
        let sum = |of: fn(FoundOfLevel) -> u64| self.found.iter().map(|&found| of(found)).sum();
        (sum(FoundOfLevel::terminal), sum(|found| found.leaves))
    }

    /// Lists the terminal regions level by level, and copies the bricks.
    fn list(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        let (device, width) = (setup.device, setup.storage.cell.bytes());
        let (regions, leaves) = self.totals();
        let ensure = |list: &mut Reserve, bytes| -> Result<u64, Error> {
            Ok(list.ensure(device, "the list of regions", bytes, Allocation::Pool)?.address())
        };
        let codes = ensure(&mut self.codes, regions * 8)?;
        let words = ensure(&mut self.words, regions * width)?;
        let places = ensure(&mut self.places, regions * 8)?;
        let last = setup.outline.last();
        let bricks = if leaves > 0 { self.bricks.reserve(setup, last, leaves)? } else { 0 };
        let mut listed = 0;
        for (i, (level, range)) in Self::levels(setup).enumerate() {
            launcher.watch.check()?;
            let args = PyramidListArgs {
                list_codes: codes,
                list_words: words,
                list_places: places,
                listed,
                bricks,
                brick_cells: last.most_cells(),
                ..self.args(setup, level, range)
            };
            let found = self.found[i];
            if found.terminal() > 0 {
                let launched = launcher.fold(&self.place, self.pieces(&args), &setup.run, &args, &setup.args)?;
                self.launched[i].insert += launched;
            }
            if found.leaves > 0 {
                let units = last.most_cells() * width / u64::from(args.width);
                let lanes = units.next_power_of_two().min(MOST_LANES);
                let base = LaunchArgs { regions: found.terminal(), ..args.base };
                let args = PyramidListArgs { base, lanes: lanes as u32, ..args };
                let blocks = (base.regions * lanes).div_ceil(self.threads);
                self.launched[i].leaf += launcher.fold(&self.copy, blocks, &setup.run, &args, &setup.args)?;
            }
            listed += found.terminal();
        }
        Ok(())
    }
}

impl MakeProgram for BottomUpProgram {
    fn new(setup: &Setup<'_>) -> Result<Self, Error> {
        limits::check(&setup.outline, &setup.how)?;
        let specialisation = <Self as MakeProgram>::specialise(&setup.outline, &setup.twin, &setup.how)?;
        let kernels = setup.device.kernels(&specialisation)?;
        Ok(Self {
            rank: kernels.get("list_rank")?,
            place: kernels.get("list_place")?,
            copy: kernels.get("list_bricks")?,
            threads: specialisation.threads().into(),
            starts: setup.starts(&setup.outline.deepest())?,
            ranks: Reserve::default(),
            codes: Reserve::default(),
            words: Reserve::default(),
            places: Reserve::default(),
            bricks: DeviceBricks::default(),
            found: Vec::new(),
            launched: Vec::new(),
        })
    }

    fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error> {
        Ok(pyramid::specialise(outline, twin, how))
    }

    fn table_bytes(outline: &Outline<'_>, how: &How) -> u128 {
        let regions: f64 = outline.expected.iter().sum();
        let kept = if how.kept.keep == Keep::Regions { 16 + outline.labels.kind().bytes() } else { 0 };
        regions as u128 * u128::from(kept) + outline.levels.len() as u128 * u128::from(MOST_PIECES) * 8
    }
}

impl Program for BottomUpProgram {
    fn aim(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        let bytes = setup.outline.levels.len() as u64 * MOST_PIECES * 8;
        self.ranks.ensure(setup.device, "the ranks of regions", bytes, Allocation::Pool)?;
        Ok(())
    }

    fn run(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        self.found.clear();
        self.launched = vec![LevelKernels::default(); setup.outline.levels.len()];
        if let Some(ranks) = self.ranks.buffer() {
            ranks.set(0)?;
        }
        for (i, (level, range)) in Self::levels(setup).enumerate() {
            launcher.watch.check()?;
            let args = self.args(setup, level, range);
            self.launched[i].explore = launcher.fold(&self.rank, self.pieces(&args), &setup.run, &args, &setup.args)?;
        }
        if setup.how.kept.keep == Keep::Regions {
            self.hear(setup, launcher)?;
            self.list(setup, launcher)?;
        }
        Ok(())
    }

    fn levels(&self, setup: &Setup<'_>, launches: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        launches.map_bytes = setup.pyramid.as_ref().map_or(0, pyramid::Pyramid::bytes);
        let tallies = read_integers(setup.device, setup.tallies.address(), setup.tallies.bytes() / 8, 8)?;
        let of_level = tallies.chunks((TALLY_ROWS * TALLY_COLUMNS) as usize).skip(setup.start.level as usize);
        let (mut runs, mut regions) = (Vec::new(), setup.start.len());
        for (tallies, &kernels) in of_level.zip(&self.launched) {
            let subdivided = tally(tallies, TALLY_SUBDIVIDED);
            let found = subdivided + tally(tallies, TALLY_FILLED) + tally(tallies, TALLY_LEAVES);
            if found != regions {
                return Err(Error::Incomplete { seen: found.into(), total: regions.into() });
            }
            runs.push(LevelRun { regions, subdivided, olt_entries: 0, olt_bytes: 0, kernels, time: None });
            regions = subdivided * setup.outline.children;
            if regions == 0 {
                break;
            }
        }
        Ok(runs)
    }

    fn collect(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        let (mut terminals, mut bricks) = (Vec::new(), BricksLeft::default());
        let Some(left) = self.regions(setup) else { return Ok((terminals, bricks)) };
        let (count, width) = (left.levels.last().map_or(0, |level| level.end), setup.storage.cell.bytes());
        let list = |address, width| read_integers(setup.device, address, count, width);
        let (codes, words, places) = (list(left.codes, 8)?, list(left.words, width)?, list(left.places, 8)?);
        for (level, entries) in (setup.start.level..).zip(&left.levels) {
            let first = entries.start as usize;
            Terminal::find(&mut terminals, (entries.end - entries.start) as usize, &|i| {
                let (code, place) = (codes[first + i], places[first + i]);
                Some(match place {
                    NO_BRICK => Terminal::uniform(level, code, words[first + i]),
                    place => Terminal::leaf(level, code, Some(place)),
                })
            })?;
        }
        if left.leaves > 0 {
            bricks = self.bricks.left(setup.outline.last(), left.leaves);
        }
        Ok((terminals, bricks))
    }

    fn regions(&self, setup: &Setup<'_>) -> Option<RegionsLeft> {
        if setup.how.kept.keep != Keep::Regions || self.found.is_empty() {
            return None;
        }
        let mut end = 0;
        let mut level = |found: &FoundOfLevel| {
            let start = end;
            end += found.terminal();
            start..end
        };
        Some(RegionsLeft {
            codes: self.codes.address(),
            words: self.words.address(),
            places: self.places.address(),
            levels: self.found.iter().map(&mut level).collect(),
            bricks: if self.totals().1 > 0 { self.bricks.address() } else { 0 },
            leaves: self.totals().1,
        })
    }
}
