//! Streams on CUDA: ASK whose host waits for no level, where proofs alone decide (kernels/strategies/stream.cu) or the cells on faces that regions share
//! (kernels/strategies/stream_faces.cu).
//!
//! ```text
//!   roots -> table of what is mixed of level 0 -> table of what is mixed of level 1 -> .. -> tiles
//! ```
//!
//! Nothing is read back between the levels: kernels read from counters how much there is to do, and the host waits once; twice where bricks
//! are kept, whose number says how much memory they take.

use crate::backend::{Error, How, Mapping, Pass};
use crate::choice::ChoiceError;
use crate::cuda::args::{LaunchArgs, StreamArgs, word_bytes};
use crate::cuda::constants::{TALLY_COLUMNS, TALLY_FILLED, TALLY_LEAVES, TALLY_ROWS, TALLY_SUBDIVIDED};
use crate::cuda::gather::BricksLeft;
use crate::cuda::kernel::{Kernel, LoadedModule};
use crate::cuda::launcher::Launcher;
use crate::cuda::limits;
use crate::cuda::memory::{Allocation, Buffer, Reserve, read_integers};
use crate::cuda::outline::Outline;
use crate::cuda::setup::{Setup, tally};
use crate::cuda::specialise::{COORDINATES, Specialisation};
use crate::cuda::strategy::bricks::DeviceBricks;
use crate::cuda::strategy::definition::{LevelRun, MakeProgram, Program};
use crate::cuda::strategy::stream_faces::Planes;
use crate::cuda::strategy::stream_maps::{self, Each, Maps};
use crate::cuda::strategy::stream_tile::{TileShape, block};
use crate::dimension::MAX_DIM;
use crate::field::{DeviceTwin, Precision};
use crate::geometry::Level;
use crate::result::{Keep, Launches, LevelKernels, Storage, Terminal};
use crate::rule::RuleKind;

/// The most blocks that a multiprocessor holds at once.
const RESIDENT: u64 = 32;

/// The most rows of a region whose proof a thread makes alone where a warp could share it.
const ROWS_OF_A_THREAD: u64 = 64;

/// The most threads of a block that proves: with more, they would not have enough registers.
const TEAM: u32 = 512;

/// Threads of a multiprocessor that blocks which prove should fill.
const BUSY: u64 = 1024;

/// What the host waits for.
const KERNELS: &str = "running the kernels of a stream";

pub(super) struct StreamProgram {
    decide: Decide,
    tiles: Kernel,
    pub(super) shape: TileShape,
    threads: u64,
    pub(super) maps: Maps,
    /// Launches of the last run, per level.
    launched: Vec<u64>,
    starts: Option<Buffer>,
    /// Leaves of the last run of which bricks are kept: their places in the lattice, and their cells.
    pub(super) leaves: u64,
    pub(super) list: Reserve,
    pub(super) bricks: DeviceBricks,
}

/// Who says what becomes of the regions of a level.
enum Decide {
    /// A thread that proves; or a block, or a warp.
    Proofs(Kernel),
    /// Lanes that read the faces, when warps have evaluated them.
    Faces { faces: Kernel, judge: Kernel, planes: Box<Planes>, labels: Reserve },
}

/// A refusal of the mapping, with what else it depends on.
fn refused(reason: impl Into<String>, with: &'static [&'static str]) -> Error {
    ChoiceError::new("scheme", Mapping::Stream, reason).with(with).into()
}

/// What a level's regions came to.
pub(super) fn tallies(setup: &Setup<'_>, level: &Level<MAX_DIM>) -> Result<Vec<u64>, Error> {
    read_integers(setup.device, setup.tallies(level.index), u64::from(TALLY_ROWS * TALLY_COLUMNS), 8)
}

/// The regions of a level, all of which have a place in its map.
pub(super) fn lattice(level: &Level<MAX_DIM>) -> Result<u64, Error> {
    match u64::try_from(level.regions()) {
        Ok(regions) if regions <= limits::MOST => Ok(regions),
        _ => Err(limits::too_many_regions(level.index, level.regions())),
    }
}

/// Bytes of what maps and lists hold.
fn each(outline: &Outline<'_>, how: &How) -> Each {
    Each { value: word_bytes(outline.labels.kind()), entry: outline.entry_bytes(how.on_cuda().table) }
}

/// The faces that regions share, if it is they that decide.
fn planes(outline: &Outline<'_>) -> Result<Option<Planes>, Error> {
    if outline.rule.certifies() {
        return Ok(None);
    }
    let labels = outline.labels;
    match Planes::of(outline, word_bytes(labels.kind()), labels.most()) {
        None => Err(refused("the faces that leaves share have more than 2^32 cells: use a larger B", &["B"])),
        planes => Ok(planes),
    }
}

fn shape(outline: &Outline<'_>, how: &How) -> Result<TileShape, Error> {
    if !outline.rule.certifies() && outline.rule != RuleKind::Closed {
        let reason = "streams ask proofs, or look at faces that regions share: use --explore certified or closed";
        return Err(refused(reason, &["explore"]));
    }
    if let Some(pass) = how.tuning.pass.filter(|&pass| pass != Pass::InPlace) {
        return Err(refused(format!("streams have no list to settle by --pass {pass}"), &["pass"]));
    }
    let labels = outline.labels;
    let storage = Storage { label: labels.kind(), cell: labels.cell(how.kept.cell) };
    // What faces say, the host does not find out; and how much memory bricks take is known when the last level is decided.
    // Lanes of a tile prove for themselves.
    let divides = outline.rule.certifies() && outline.proves && !outline.by_blocks && how.kept.keep != Keep::Regions;
    TileShape::of(outline, storage, labels.most(), divides)
        .ok_or_else(|| refused("a leaf's labels do not fit what a warp has of shared memory: use a smaller B", &["B"]))
}

impl StreamProgram {
    /// What a launch of a level is; `first` if it asks for the roots.
    fn args(&self, setup: &Setup<'_>, level: &Level<MAX_DIM>, first: bool) -> StreamArgs {
        let base = LaunchArgs {
            level: level.index,
            last: u32::from(setup.outline.is_last(level.index)),
            grid: setup.outline.padded(level.grid),
            side: setup.outline.padded(level.whole_sides()),
            tallies: setup.tallies(level.index),
            ..LaunchArgs::default()
        };
        let (root_level, whole) = (setup.start.level, u32::from(setup.start.whole));
        let mut args = StreamArgs { base, root_level, whole, ..StreamArgs::default() };
        self.maps.tell(&mut args, level.index, first);
        if first {
            (args.base.codes, args.base.code) = setup.roots();
            args.base.regions = setup.start.len();
        } else {
            args.above = setup.tallies(level.index - 1);
        }
        if let Decide::Faces { planes, labels, .. } = &self.decide {
            planes.tell(&mut args, labels.address());
        }
        args.base.set_curve(&setup.outline.typed.curve(level.index), self.starts.as_ref().map_or(0, Buffer::address));
        args
    }
}

impl StreamProgram {
    /// Blocks for so many threads: no more than a GPU holds, which come back for more.
    fn blocks(&self, setup: &Setup<'_>, threads: u64) -> u64 {
        let resident = u64::from(setup.device.processors()[0]) * RESIDENT;
        threads.div_ceil(self.threads).min(resident).min(setup.device.max_grid())
    }

    /// The threads of a block that proves one of so many regions: a GPU has little else to do where there are few.
    fn team(&self, setup: &Setup<'_>, regions: u64) -> u32 {
        let most = u64::from(setup.device.processors()[0]) * BUSY / regions.max(1);
        let threads = 1 << most.clamp(1, TEAM.into()).ilog2();
        threads.max(self.threads as u32)
    }

    /// Makes room for the bricks of the last level's leaves, which are known when that is decided; tells the kernel of tiles.
    fn make_room(&mut self, setup: &Setup<'_>, launcher: &Launcher<'_>, args: &mut StreamArgs) -> Result<(), Error> {
        // Of a run that was ended on the way there would be more leaves than tallies say: then this is an error.
        launcher.watch.wait(KERNELS)?;
        let level = &setup.outline.levels[self.shape.level as usize];
        self.leaves = tally(&tallies(setup, level)?, TALLY_LEAVES);
        if self.leaves > 0 {
            let list = self.list.ensure(setup.device, "the list of leaves", self.leaves * 4, Allocation::Pool)?;
            args.leaves = list.address();
            args.bricks = self.bricks.reserve(setup, level, self.leaves)?;
        }
        Ok(())
    }

    /// Has it said what becomes of the regions of a level. How many kernels that took.
    fn decide(&self, setup: &Setup<'_>, launcher: &mut Launcher<'_>, level: &Level<MAX_DIM>) -> Result<u64, Error> {
        let roots = level.index == setup.start.level;
        let args = self.args(setup, level, roots);
        // At most.
        let asked = if roots { setup.start.len() } else { lattice(level)? };
        let mut launch = |kernel: &Kernel, threads: u64, args: &StreamArgs| {
            launcher.watch.check()?;
            launcher.fold(kernel, self.blocks(setup, threads), &setup.run, args, &setup.args)
        };
        match &self.decide {
            Decide::Proofs(prove) if setup.outline.by_blocks => {
                launcher.watch.check()?;
                let blocks = asked.min(self.blocks(setup, u64::MAX));
                launcher.fold(&prove.of(self.team(setup, asked)), blocks, &setup.run, &args, &setup.args)
            }
            Decide::Proofs(prove) => {
                let extent = level.least_extent();
                let rows =
                    setup.outline.own(&extent)[1..].iter().fold(1, |rows: u64, &n| rows.saturating_mul(n.into()));
                let large = rows > ROWS_OF_A_THREAD;
                let lanes = if large && setup.twin.shares_proofs() { 32 } else { 1 };
                launch(prove, asked.saturating_mul(lanes.into()), &StreamArgs { lanes, ..args })
            }
            Decide::Faces { faces, judge, planes, .. } => {
                let owner = if roots { level } else { &setup.outline.levels[level.index as usize - 1] };
                let owners = if roots { asked } else { lattice(owner)? };
                let (slices, slice_cells) = planes.evaluation(owner, owners, roots);
                let all = owners.saturating_mul(slices.into());
                let evaluated = launch(faces, all.saturating_mul(32), &StreamArgs { slices, slice_cells, ..args })?;
                let lanes = planes.lanes(level);
                Ok(evaluated + launch(judge, asked * u64::from(lanes), &StreamArgs { lanes, ..args })?)
            }
        }
    }
}

impl MakeProgram for StreamProgram {
    fn new(setup: &Setup<'_>) -> Result<Self, Error> {
        let (outline, how) = (&setup.outline, &setup.how);
        limits::check(outline, how)?;
        let shape = shape(outline, how)?;
        let specialisation = <Self as MakeProgram>::specialise(outline, &setup.twin, how)?;
        let kernels: LoadedModule = setup.device.kernels(&specialisation)?;
        let decide = match planes(outline)? {
            None => Decide::Proofs(kernels.get("stream_prove")?),
            Some(planes) => Decide::Faces {
                faces: kernels.get("stream_faces")?,
                judge: kernels.get("stream_judge")?,
                planes: planes.into(),
                labels: Reserve::default(),
            },
        };
        Ok(Self {
            decide,
            tiles: kernels.get("stream_tiles")?,
            threads: u64::from(specialisation.threads()),
            maps: Maps::new(&outline.levels[..=shape.level as usize], each(outline, how)),
            shape,
            launched: Vec::new(),
            starts: setup.starts(&setup.outline.deepest())?,
            leaves: 0,
            list: Reserve::default(),
            bricks: DeviceBricks::default(),
        })
    }

    fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Result<Specialisation, Error> {
        if twin.proves_by_warps() && how.tuning.asks_proofs(outline.rule) {
            return Err(refused("a proof of this field takes a warp, and streams have a thread for it", &[]));
        }
        let shape = shape(outline, how)?;
        let header = (how.on_cuda().table == crate::backend::Table::Coordinates).then_some(COORDINATES);
        let how = how.clone().block(block(how.on_cuda().block));
        let planes = planes(outline)?;
        let entry = if planes.is_some() { "strategies/stream_faces.cu" } else { "strategies/stream.cu" };
        let levels = Specialisation::of_levels(entry, outline, twin, &how, header).taking::<StreamArgs>("StreamArgs");
        let shares = ("SHARES_FACES", planes.is_some().to_string());
        // Sums of coordinates and of an offset that may be a half are numbers of the run.
        let longest = outline.size().into_iter().max().unwrap_or(0);
        let exact = twin.precision == Precision::F64 || longest < 1 << (f32::MANTISSA_DIGITS - 1);
        let exact = ("EXACT_COORDINATES", exact.to_string());
        let keeps = ("KEEPS_BRICKS", (how.kept.keep == Keep::Regions).to_string());
        let threads: u32 = how.on_cuda().block.iter().product();
        let team = ("TEAM", if outline.by_blocks { TEAM.max(threads) } else { threads }.to_string());
        let declaration = shape.declaration() + &planes.map(|planes| planes.declaration()).unwrap_or_default();
        Ok(levels.and(&[&shape.defines()[..], &[shares, exact, keeps, team]].concat(), &declaration, false))
    }

    fn table_bytes(outline: &Outline<'_>, how: &How) -> u128 {
        let Ok(shape) = shape(outline, how) else { return 0 };
        let maps = stream_maps::bytes(&outline.levels[..=shape.level as usize], each(outline, how));
        maps + u128::from(planes(outline).ok().flatten().map_or(0, |planes| planes.bytes()))
    }

    /// Maps and planes are of whole lattices, wherever the roots are.
    fn table_share(_: f64) -> f64 {
        1.0
    }
}

impl Program for StreamProgram {
    fn aim(&mut self, setup: &Setup<'_>) -> Result<(), Error> {
        let (device, start) = (setup.device, &setup.start);
        if start.level > self.shape.level {
            let reason = format!(
                "roots of level {} are proven within tiles of level {}: use roots of a level above",
                start.level, self.shape.level
            );
            return Err(refused(reason, &["parts"]));
        }
        setup.outline.levels[..=self.shape.level as usize].iter().try_for_each(|level| lattice(level).map(drop))?;
        self.maps.ensure(device)?;
        if let Decide::Faces { planes, labels, .. } = &mut self.decide {
            labels.ensure(device, "the faces that regions share", planes.bytes(), Allocation::Pool)?;
        }
        Ok(())
    }

    fn run(&mut self, setup: &Setup<'_>, launcher: &mut Launcher<'_>) -> Result<(), Error> {
        let (outline, start) = (&setup.outline, &setup.start);
        self.launched = vec![0; outline.levels.len()];
        self.leaves = 0;
        self.maps.forget(start.level)?;
        for level in &outline.levels[start.level as usize..=self.shape.level as usize] {
            self.launched[level.index as usize] += self.decide(setup, launcher, level)?;
        }
        launcher.watch.check()?;
        let level = &outline.levels[self.shape.level as usize];
        let tiles = self.shape.count(level);
        let mut args = StreamArgs { tiles, ..self.args(setup, level, level.index == start.level) };
        if setup.how.kept.keep == Keep::Regions {
            self.make_room(setup, launcher, &mut args)?;
            if self.leaves == 0 {
                return Ok(());
            }
        }
        let blocks = self.blocks(setup, tiles.saturating_mul(32));
        self.launched[level.index as usize] += launcher.fold(&self.tiles, blocks, &setup.run, &args, &setup.args)?;
        Ok(())
    }

    fn levels(&self, setup: &Setup<'_>, launches: &mut Launches) -> Result<Vec<LevelRun>, Error> {
        launches.map_bytes = self.maps.bytes();
        let (mut runs, mut regions, mut read) = (Vec::new(), setup.start.len(), 0);
        for level in &setup.outline.levels[setup.start.level as usize..] {
            let tallies = tallies(setup, level)?;
            let subdivided = tally(&tallies, TALLY_SUBDIVIDED);
            let found = subdivided + tally(&tallies, TALLY_FILLED) + tally(&tallies, TALLY_LEAVES);
            if found != regions {
                return Err(Error::Incomplete { seen: found.into(), total: regions.into() });
            }
            let kernels = LevelKernels { explore: self.launched[level.index as usize], ..LevelKernels::default() };
            let listed = self.maps.listed(level.index, subdivided);
            let (olt_entries, olt_bytes) = (read + listed, self.maps.list_bytes(read + listed));
            runs.push(LevelRun { regions, subdivided, olt_entries, olt_bytes, kernels, time: None });
            (regions, read) = (subdivided * setup.outline.children, listed);
            if regions == 0 {
                break;
            }
        }
        Ok(runs)
    }

    fn collect(&self, setup: &Setup<'_>) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        self.terminals(setup)
    }
}
