//! The CPU as a backend.

use std::time::{Duration, Instant};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::backend::{
    Backend, Balanced, Balances, Balancing, Control, DeviceFacts, Error, Estimate, How, Mapping, OrderedSink, Part,
    Place, Prepared, Sampler, SealedBackend, Sink, Start, StrategyKind, Unsupported, deliver, deliver_all,
    deliver_array, deliver_ordered,
};
use crate::cell::WordVec;
use crate::choice::ChoiceError;
use crate::cpu::balance;
use crate::cpu::host::Host;
use crate::cpu::patience::evaluate;
use crate::cpu::settled::Settled;
use crate::cpu::strategy;
use crate::cpu::work::Work;
use crate::field::Field;
use crate::geometry::{Domain, Region, SampleGrid};
use crate::memory::zeros;
use crate::parallel;
use crate::plan::Plan;
use crate::result::{
    Bricks, DenseArray, Keep, LevelCounts, MemoryError, RunCounts, Storage, Stored, Subdivision, Terminal, Times,
};
use crate::rule::exact;
use crate::threads::worker;

/// Cells sampled per task: below it threads take longer to wake than to evaluate.
const TASK: usize = 1024;

/// The processor, always there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

impl SealedBackend for Cpu {}

impl Place for Cpu {
    fn name(&self) -> &'static str {
        "cpu"
    }

    fn device(&self) -> Option<&str> {
        None
    }

    fn multiprocessors(&self) -> Option<[u32; 2]> {
        None
    }

    fn facts(&self) -> Option<DeviceFacts> {
        None
    }

    fn second(&mut self) -> Result<Option<Self>, Error> {
        Ok(Some(Self))
    }
}

impl Balances for Cpu {
    fn balance(&self, asked: &Balancing<'_>) -> Result<Balanced, Error> {
        balance::balance(asked)
    }
}

impl<const K: usize> Backend<K> for Cpu {
    fn sample<'a>(
        &'a self,
        _: &Domain<K>,
        field: &'a dyn Field<K>,
        grid: SampleGrid<K>,
        how: &How,
    ) -> Result<Sampler<'a>, Error> {
        check_here(how)?;
        let host = Host::of(field)?;
        host.evaluate.ready();
        let pool = pool(how)?;
        Ok(Box::new(move |control| {
            let task = |task: usize, keys: &mut [u64]| {
                let mut words = WordVec::of(host.labels.kind());
                let cells = grid.cells_from((task * TASK) as u64, keys.len());
                evaluate(host, &cells, words.reset(keys.len()), control)?;
                exact::make_keys(host.labels.kind(), words.all_mut());
                words.all().copy_to(keys);
                Ok::<_, Error>(())
            };
            let mut keys = zeros(grid.cells() as usize).map_err(MemoryError::refused(Stored::Sample))?;
            if keys.len() <= TASK {
                task(0, &mut keys)?;
            } else {
                let mut sampled = Ok(());
                inside(pool.as_ref(), &mut || sampled = parallel::try_pieces_mut(&mut keys, TASK, &task));
                sampled?;
            }
            Ok(keys)
        }))
    }

    fn prepare<'a>(
        &'a self,
        plan: &Plan<K>,
        field: &'a dyn Field<K>,
        how: &How,
    ) -> Result<Box<dyn Prepared<K> + 'a>, Error> {
        check_here(how)?;
        let host = Host::of(field)?;
        host.evaluate.ready();
        let storage = how.check(host.labels)?;
        how.check_proofs(plan.rule(), host.prove.is_some())?;
        let pool = pool(how)?;
        let task = Task { plan: plan.clone(), field, host, storage, how: how.clone() };
        Ok(Box::new(OnCpu { task, pool, last: None, array: None }))
    }
}

/// Checks that the CPU understands how a plan is tuned.
fn check_here(how: &How) -> Result<(), Error> {
    match (&how.cuda, how.tuning.mapping()) {
        (Some(_), _) => Err(Error::Unsupported { backend: "cpu", what: Unsupported::CudaTuning }),
        (None, Mapping::Stream) => {
            Err(ChoiceError::new("scheme", Mapping::Stream, "tiles of proofs are the GPU's").with(&["backend"]).into())
        }
        (None, Mapping::Sbr | Mapping::Mbr) => Ok(()),
    }
}

/// A pool of as many threads as were asked for; None: all, which the caller's pool has.
fn pool(how: &How) -> Result<Option<ThreadPool>, Error> {
    let Some(threads) = how.tuning.threads else { return Ok(None) };
    let start = || ThreadPoolBuilder::new().num_threads(threads).spawn_handler(worker).build();
    // Those of a pool before this one may still be on their way out, and count against a limit until then.
    let again = |_| {
        std::thread::sleep(Duration::from_millis(20));
        start().ok()
    };
    match start().or_else(|error| (0..5).find_map(again).ok_or(error)) {
        Ok(pool) => Ok(Some(pool)),
        Err(error) => Err(Error::System(format!("{threads} threads cannot be started: {error}"))),
    }
}

/// Does something in a pool, if there is one.
fn inside(pool: Option<&ThreadPool>, work: &mut (dyn FnMut() + Send)) {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// A plan on the CPU. A run writes into the array of the one before.
struct OnCpu<'a, const K: usize> {
    task: Task<'a, K>,
    pool: Option<ThreadPool>,
    last: Option<Last<K>>,
    array: Option<DenseArray<K>>,
}

/// What every run of a plan shares.
struct Task<'a, const K: usize> {
    plan: Plan<K>,
    field: &'a dyn Field<K>,
    host: Host<'a, K>,
    storage: Storage,
    how: How,
}

/// What the last run left beside its array.
struct Last<const K: usize> {
    counts: RunCounts<K>,
    window: Region<K>,
    cells: u128,
    /// The terminal regions and their bricks, until they are taken.
    found: Option<(Vec<Terminal>, Bricks)>,
}

impl<const K: usize> OnCpu<'_, K> {
    fn last(&self) -> &Last<K> {
        self.last.as_ref().expect("a plan is run before it is asked about")
    }

    fn take(&mut self) -> (Vec<Terminal>, Bricks) {
        let last = self.last.as_mut().expect("a plan is run before it is asked about");
        last.found.take().expect("a plan is run again before its result is asked for again")
    }
}

impl<const K: usize> SealedBackend for OnCpu<'_, K> {}

impl<const K: usize> Prepared<K> for OnCpu<'_, K> {
    fn run(&mut self, part: &Part<'_, K>, control: &Control) -> Result<Times, Error> {
        self.last = None;
        let start = self.task.start(part)?;
        let (mut kept, mut ran) = (self.array.take(), None);
        inside(self.pool.as_ref(), &mut || ran = Some(self.task.carry_out(&start, control, kept.take())));
        let (last, array) = ran.expect("a pool does its work")?;
        let times = last.counts.times;
        (self.last, self.array) = (Some(last), array);
        Ok(times)
    }

    fn mapping(&self) -> Mapping {
        self.task.how.tuning.mapping()
    }

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        Ok(self.last().counts.clone())
    }

    fn result(&mut self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let (terminals, mut bricks) = self.take();
        deliver(&self.task.plan, terminals, &mut bricks, sink)?;
        deliver_array(self.array.as_ref(), sink)
    }

    fn subdivision(&mut self) -> Result<Subdivision<K>, Error> {
        let (terminals, mut bricks) = self.take();
        let Last { counts, window, cells, .. } = self.last();
        let mut all = Subdivision::new(self.task.plan.clone(), *window, *cells, counts.clone(), bricks.kind());
        deliver_all(terminals, &mut bricks, &mut all)?;
        Ok(Subdivision { array: self.array.take(), ..all })
    }

    fn ordered(&mut self, sink: &dyn OrderedSink<K>) -> Result<(), Error> {
        let (terminals, mut bricks) = self.take();
        deliver_ordered(&self.task.plan, terminals, &mut bricks, sink)
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        self.last();
        let kept = self.task.how.kept.keep == Keep::Dense;
        let array =
            || self.array.as_ref().expect("a plan is run again before the checksum of a taken array is asked for");
        Ok(kept.then(|| array().checksum()))
    }
}

impl<const K: usize> Task<'_, K> {
    /// Where a part starts, if it fits the plan and the memory.
    fn start<'r>(&self, part: &Part<'r, K>) -> Result<Start<'r, K>, Error> {
        let start = Start::new(&self.plan, self.host.carry.is_some(), part)?;
        let start = match self.how.tuning.strategy {
            StrategyKind::Exhaustive => start.exhaustive(part)?,
            _ => start,
        };
        Estimate::from(&self.plan, self.field, &self.how, &start).check(self.how.mem_limit)?;
        Ok(start)
    }

    /// One run into an array that a run before this one may have left, or into a new one.
    fn carry_out(
        &self,
        start: &Start<'_, K>,
        control: &Control,
        array: Option<DenseArray<K>>,
    ) -> Result<(Last<K>, Option<DenseArray<K>>), Error> {
        let Self { plan, field, host, storage, how } = self;
        control.begin();
        let new = || {
            let keep = how.kept.keep == Keep::Dense;
            keep.then(|| DenseArray::zeroed(Stored::Dense, start.window, storage.cell)).transpose()
        };
        let mut array = array.map(|array| array.over(start.window)).transpose()?;
        // Without a poison, what no root covers could be left from another window.
        if let Some(byte) = how.poison.or_else(|| (array.is_some() && !start.whole).then_some(0)) {
            array = array.map_or_else(new, |array| Ok(Some(array)))?;
            array.iter_mut().for_each(|array| array.poison(byte));
        }
        let begun = Instant::now();
        let mut array = array.map_or_else(new, |array| Ok(Some(array)))?;
        let dense = Estimate::from(plan, *field, how, start).dense as u64;
        let limit = how.mem_limit.unwrap_or(u64::MAX).saturating_sub(dense);
        let settled = Settled::new(array.as_mut().map(DenseArray::canvas), how.kept.keep, *storage, limit);
        let asks = how.tuning.asks_proofs(plan.rule()) && how.tuning.strategy != StrategyKind::Exhaustive;
        let survey = match host.prove.filter(|_| asks).zip(start.bounds(plan)) {
            Some((prover, bounds)) => prover.survey(&bounds)?.map(|survey| (survey, bounds)),
            None => None,
        };
        let host = Host { prove: survey.as_ref().map(|(survey, _)| &**survey).or(host.prove), ..*host };
        let work = Work::new(plan, host, how, control, start, settled);
        if let Some((_, bounds)) = &survey {
            // A survey looks at every cell.
            work.count(start.level, LevelCounts { explored_cells: bounds.volume(), ..LevelCounts::default() });
        }
        let (levels, launches) = strategy::of::<K>(how.tuning.strategy).run(&work)?;
        let (terminals, bricks) = work.settled.finish();
        let times = Times { wall: begun.elapsed(), device: None };
        debug_assert!(how.tuning.strategy != StrategyKind::Exhaustive || terminals.is_empty());
        let counts = RunCounts { levels, launches, times };
        counts.complete(start.cells).map_err(|seen| Error::Incomplete { seen, total: start.cells })?;
        let last = Last { counts, window: start.window, cells: start.cells, found: Some((terminals, bricks)) };
        Ok((last, array))
    }
}
