//! Several devices of a kind as one backend.
//!
//! A plan is cut into pieces along its curve: runs of regions of level 0. Whichever device has nothing to do takes the next one.
//! Nothing below level 0 depends on another piece, so that regions, counts and cells are those of one device.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::balanced::{Balanced, Balances, Balancing};
use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::facts::DeviceFacts;
use crate::backend::how::{How, Mapping, StrategyKind};
use crate::backend::part::{Part, Roots};
use crate::backend::seam::sealed::SealedBackend;
use crate::backend::seam::{Backend, Place, Prepared, Sampler};
use crate::backend::sink::{Batch, RegionOrder, Sink, deliver_all, deliver_array};
use crate::cell::CellType;
use crate::field::Field;
use crate::geometry::{Domain, Region, SampleGrid};
use crate::plan::Plan;
use crate::result::{
    Bricks, Cells, DenseArray, Keep, MemoryError, RunCounts, Stored, Subdivision, Terminal, Times, dense_fits,
};

/// Pieces per device: so many that the last ones end at nearly the same time, and few enough that launching them takes no time.
pub const PIECES: u64 = 32;

/// Regions of level 0 that a piece should have: with fewer, a GPU has less to do at once than it has room for (docs/results/devices.md).
pub const ROOTS_OF_A_PIECE: u64 = 1024;

/// How often a run that waits for its devices looks for a cancellation.
const LOOK: Duration = Duration::from_millis(10);

/// Devices of one kind that share the work of a run. One alone is that device.
#[derive(Debug)]
pub struct Fleet<T> {
    members: Vec<T>,
    device: Option<String>,
}

impl<T: Place> Fleet<T> {
    /// All of them as one.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn of(members: Vec<T>) -> Self {
        let mut names: Vec<(&str, usize)> = Vec::new();
        for name in members.iter().filter_map(Place::device) {
            match names.iter_mut().find(|(known, _)| *known == name) {
                Some((_, count)) => *count += 1,
                None => names.push((name, 1)),
            }
        }
        let text =
            |&(name, count): &(&str, usize)| if count == 1 { name.to_owned() } else { format!("{count} x {name}") };
        let device = (!names.is_empty()).then(|| names.iter().map(text).collect::<Vec<_>>().join(" and "));
        assert!(!members.is_empty(), "a fleet has a member");
        Self { members, device }
    }

    /// How many devices there are.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }
}

impl<T> SealedBackend for Fleet<T> {}

impl<T: Place> Place for Fleet<T> {
    fn name(&self) -> &'static str {
        self.members[0].name()
    }

    fn device(&self) -> Option<&str> {
        self.device.as_deref()
    }

    fn multiprocessors(&self) -> Option<[u32; 2]> {
        self.members[0].multiprocessors()
    }

    /// Those of the first.
    fn facts(&self) -> Option<DeviceFacts> {
        self.members[0].facts()
    }
}

impl<T: Balances> Balances for Fleet<T> {
    /// By the first: balancers are measured on one device.
    fn balance(&self, asked: &Balancing<'_>) -> Result<Balanced, Error> {
        self.members[0].balance(asked)
    }
}

impl<const K: usize, T: Backend<K>> Backend<K> for Fleet<T> {
    fn sample<'a>(
        &'a self,
        domain: &Domain<K>,
        field: &'a dyn Field<K>,
        grid: SampleGrid<K>,
        how: &How,
    ) -> Result<Sampler<'a>, Error> {
        self.members[0].sample(domain, field, grid, how)
    }

    fn has_streams(&self, plan: &Plan<K>, field: &dyn Field<K>, how: &How) -> bool {
        self.members[0].has_streams(plan, field, how)
    }

    fn prepare<'a>(
        &'a self,
        plan: &Plan<K>,
        field: &'a dyn Field<K>,
        how: &How,
    ) -> Result<Box<dyn Prepared<K> + 'a>, Error> {
        if let [one] = &self.members[..] {
            return one.prepare(plan, field, how);
        }
        let kind = how.check(field.labels())?.cell;
        let members = self.members.iter().map(|member| member.prepare(plan, field, how)).collect::<Result<_, _>>()?;
        Ok(Box::new(FleetPlan { plan: plan.clone(), how: how.clone(), kind, members, last: None }))
    }
}

/// A plan that several devices are ready to carry out.
struct FleetPlan<'a, const K: usize> {
    plan: Plan<K>,
    how: How,
    /// The type of a stored cell.
    kind: CellType,
    members: Vec<Box<dyn Prepared<K> + 'a>>,
    last: Option<LastRun<K>>,
}

/// Who has the last run.
enum LastRun<const K: usize> {
    /// The first device, which was given a part of the plan.
    First,
    /// All of them: what came of it, until it is taken.
    All { counts: RunCounts<K>, found: Option<Box<Subdivision<K>>> },
}

/// A piece of the work: the regions it starts from, or all cells of the window where there are no regions.
struct PieceOfWork<const K: usize> {
    codes: Option<Range<u64>>,
    window: Option<Region<K>>,
}

/// What the devices have in common while they work.
struct FleetWork<'w, const K: usize> {
    plan: &'w Plan<K>,
    pieces: Vec<PieceOfWork<K>>,
    next: AtomicUsize,
    found: Vec<Mutex<Option<Subdivision<K>>>>,
    /// The dense array, if one is kept.
    array: Option<Mutex<DenseArray<K>>>,
    /// Bytes of the pieces that are found, and how many there may be.
    kept: AtomicU64,
    limit: Option<u64>,
    /// The run as a whole, as its caller sees it.
    control: &'w Control,
}

impl<const K: usize> FleetWork<'_, K> {
    /// Carries out pieces on a device until there are none; the time that it was busy.
    fn on(&self, member: &mut dyn Prepared<K>, control: &Control) -> Result<Option<Duration>, Error> {
        let mut busy = None;
        loop {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(piece) = self.pieces.get(index) else { return Ok(busy) };
            let roots = match &piece.codes {
                Some(range) => Roots::Codes { level: 0, range: range.clone() },
                None => Roots::All,
            };
            let times = member.run(&Part { roots, window: piece.window }, control)?;
            if let Some(time) = times.device {
                *busy.get_or_insert_default() += time;
            }
            let mut found = member.subdivision()?;
            if let (Some(all), Some(array)) = (&self.array, found.array.take()) {
                let mut all = all.lock().unwrap_or_else(PoisonError::into_inner);
                self.show(piece, &array, &mut all);
            }
            let bytes = found.terminals.len() as u64 * Terminal::BYTES
                + found.bricks.len() as u64 * found.bricks.kind().bytes();
            let need = self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes;
            if self.limit.is_some_and(|limit| need > limit) {
                return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: self.limit }.into());
            }
            self.control.advance(found.cells() as u64);
            *self.found[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(found);
        }
    }

    /// Copies the cells of a piece to their places.
    fn show(&self, piece: &PieceOfWork<K>, array: &DenseArray<K>, all: &mut DenseArray<K>) {
        let regions: Vec<Region<K>> = match &piece.codes {
            Some(codes) => codes.clone().map(|code| self.plan.region(0, code)).collect(),
            None => vec![array.window()],
        };
        regions.iter().for_each(|region| all.show(array, region));
    }
}

impl<const K: usize> FleetPlan<'_, K> {
    /// Pieces of nearly as many regions of level 0 each, or of nearly as many layers.
    fn pieces(&self) -> Vec<PieceOfWork<K>> {
        let domain = self.plan.domain().region();
        let most = PIECES * self.members.len() as u64;
        if self.how.tuning.strategy == StrategyKind::Exhaustive {
            // Across the longest axis, of several the last one.
            let axis = (0..K).max_by_key(|&j| domain.extent[j]).expect("there is an axis");
            let layers = u64::from(domain.extent[axis]);
            let count = layers.min(most);
            let layer = |i: u64| (i * layers / count) as u32;
            let slab = |i| {
                let mut window = domain;
                (window.corner[axis], window.extent[axis]) = (layer(i), layer(i + 1) - layer(i));
                PieceOfWork { codes: None, window: Some(window) }
            };
            return (0..count).map(slab).collect();
        }
        let regions = u64::try_from(self.plan.levels()[0].regions()).unwrap_or(u64::MAX);
        let count = regions.min(most);
        let code = |i: u64| (u128::from(i) * u128::from(regions) / u128::from(count)) as u64;
        let piece = |i| {
            let codes = code(i)..code(i + 1);
            let bounds = || codes.clone().map(|code| self.plan.region(0, code)).reduce(|one, two| one.hull(&two));
            let window = if self.how.kept.keep == Keep::Dense { bounds() } else { None };
            PieceOfWork { codes: Some(codes), window }
        };
        (0..count).map(piece).collect()
    }

    /// Carries out the whole plan.
    fn all(&mut self, control: &Control) -> Result<(Subdivision<K>, Times), Error> {
        let begun = Instant::now();
        control.begin();
        let (domain, limit) = (*self.plan.domain(), self.how.mem_limit);
        let array = match self.how.kept.keep {
            Keep::Dense => {
                dense_fits(Stored::Dense, domain.cells(), self.kind, limit)?;
                Some(Mutex::new(DenseArray::zeroed(Stored::Dense, domain.region(), self.kind)?))
            }
            _ => None,
        };
        let pieces = self.pieces();
        let found = pieces.iter().map(|_| Mutex::new(None)).collect();
        let work = FleetWork {
            plan: &self.plan,
            pieces,
            next: AtomicUsize::new(0),
            found,
            array,
            kept: AtomicU64::new(0),
            limit,
            control,
        };
        let shared = &work;
        let members = self.members.iter_mut();
        let tasks =
            members.map(|member| Box::new(|control: &Control| shared.on(&mut **member, control)) as DeviceTask<'_>);
        let busy = together(tasks.collect(), control)?;
        let mut counts: Option<RunCounts<K>> = None;
        let mut gathered = Gathered { terminals: Vec::new(), bricks: Bricks::new(self.kind) };
        for piece in work.found {
            let piece =
                piece.into_inner().unwrap_or_else(PoisonError::into_inner).expect("every piece was carried out");
            let Subdivision { counts: more, terminals: regions, bricks: cells, .. } = piece;
            counts = Some(match counts {
                None => more,
                Some(counts) => counts.join(&more),
            });
            gathered.add(&regions, cells)?;
        }
        let times = Times { wall: begun.elapsed(), device: busy };
        let mut counts = RunCounts { times, ..counts.expect("there is a piece") };
        if self.how.tuning.strategy == StrategyKind::Exhaustive {
            // Slabs are no regions: the domain is one.
            counts.levels.iter_mut().for_each(|level| (level.counts.regions, level.counts.leaves) = (1, 1));
        }
        counts.complete(domain.cells()).map_err(|seen| Error::Incomplete { seen, total: domain.cells() })?;
        let mut all = Subdivision::new(self.plan.clone(), domain.region(), domain.cells(), counts, self.kind);
        deliver_all(gathered.terminals, &mut gathered.bricks, &Terminal::sort, &mut all)?;
        all.array = work.array.map(|array| array.into_inner().unwrap_or_else(PoisonError::into_inner));
        all.counts.times.wall = begun.elapsed();
        let times = all.counts.times;
        Ok((all, times))
    }

    fn found(&self) -> &LastRun<K> {
        self.last.as_ref().expect("a plan is run before it is asked about")
    }

    fn taken(&mut self) -> Option<Subdivision<K>> {
        match self.last.as_mut().expect("a plan is run before it is asked about") {
            LastRun::First => None,
            LastRun::All { found, .. } => {
                Some(*found.take().expect("a plan is run again before its result is asked for again"))
            }
        }
    }
}

/// Regions and cells of pieces, one after the other.
struct Gathered {
    terminals: Vec<Terminal>,
    bricks: Bricks,
}

impl Gathered {
    fn add(&mut self, regions: &[Terminal], cells: Cells) -> Result<(), MemoryError> {
        let before = self.bricks.len();
        self.terminals.extend(regions.iter().map(|terminal| terminal.shifted(before)));
        self.bricks.append(cells).map_err(MemoryError::refused(Stored::Terminals))
    }
}

/// What a device does: the time that it was busy.
type DeviceTask<'t> = Box<dyn FnOnce(&Control) -> Result<Option<Duration>, Error> + Send + 't>;

/// Lets a thread per device work, and ends them all when the caller cancels or one of them fails; the time that the busiest took.
fn together(tasks: Vec<DeviceTask<'_>>, caller: &Control) -> Result<Option<Duration>, Error> {
    let controls: Vec<Control> = tasks.iter().map(|_| Control::default()).collect();
    let cancel = |signal| controls.iter().for_each(|control| control.cancel(signal));
    std::thread::scope(|scope| {
        let (ended, ends) = channel();
        let mut failure = None;
        for (task, control) in tasks.into_iter().zip(&controls) {
            let ended = ended.clone();
            let device = std::thread::Builder::new().name("device".into());
            let started = device.spawn_scoped(scope, move || {
                // If nobody listens any more, the run has failed.
                let _ = ended.send(task(control));
            });
            if let Err(error) = started {
                failure = Some(Error::System(format!("a thread for a device cannot be started: {error}")));
                cancel(0);
                break;
            }
        }
        drop(ended);
        let mut busiest = None;
        loop {
            match ends.recv_timeout(LOOK) {
                Ok(Ok(busy)) => busiest = busiest.max(busy),
                Ok(Err(error)) => {
                    cancel(0);
                    failure.get_or_insert(error);
                }
                Err(RecvTimeoutError::Timeout) => {
                    if let Err(Error::Interrupted(signal)) = caller.check() {
                        cancel(signal);
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        caller.check()?;
        failure.map_or(Ok(busiest), Err)
    })
}

impl<const K: usize> Prepared<K> for FleetPlan<'_, K> {
    fn run(&mut self, part: &Part<'_, K>, control: &Control) -> Result<Times, Error> {
        self.last = None;
        if *part != Part::default() {
            let times = self.members[0].run(part, control)?;
            self.last = Some(LastRun::First);
            return Ok(times);
        }
        let (found, times) = self.all(control)?;
        self.last = Some(LastRun::All { counts: found.counts().clone(), found: Some(Box::new(found)) });
        Ok(times)
    }

    fn mapping(&self) -> Mapping {
        self.members[0].mapping()
    }

    fn instead(&self) -> Option<&Error> {
        self.members[0].instead()
    }

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        match self.found() {
            LastRun::First => self.members[0].counts(),
            LastRun::All { counts, .. } => Ok(counts.clone()),
        }
    }

    fn result(&mut self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let Some(all) = self.taken() else { return self.members[0].result(sink) };
        if !all.terminals.is_empty() {
            sink.terminals(Batch { plan: &self.plan, terminals: &all.terminals, bricks: &all.bricks, start: 0 })?;
        }
        deliver_array(all.array(), sink)
    }

    fn subdivision_in(&mut self, order: RegionOrder<'_>) -> Result<Subdivision<K>, Error> {
        match self.taken() {
            Some(all) => Ok(all),
            None => self.members[0].subdivision_in(order),
        }
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        match self.found() {
            LastRun::First => self.members[0].checksum(),
            LastRun::All { found, .. } => {
                let found =
                    found.as_ref().expect("a plan is run again before the checksum of a taken array is asked for");
                Ok(found.array().map(DenseArray::checksum))
            }
        }
    }
}
