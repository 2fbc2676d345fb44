//! The CPU as a backend.

use std::time::{Duration, Instant};

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::backend::{
    Backend, Control, DeviceFacts, Error, Estimate, How, Place, Prepared, Sampler, StrategyKind, Unsupported,
};
use crate::cell::WordVec;
use crate::cpu::host::Host;
use crate::cpu::patience::evaluate;
use crate::cpu::sink::Sink;
use crate::cpu::strategy;
use crate::cpu::work::Work;
use crate::field::Field;
use crate::geometry::{Domain, SampleGrid};
use crate::memory::zeros;
use crate::plan::Plan;
use crate::result::{DenseArray, Keep, MemoryError, RunCounts, Storage, Stored, Subdivision, Times};
use crate::rule::exact;

/// Cells sampled per task: below it threads take longer to wake than to evaluate.
const TASK: usize = 1024;

/// The processor, always there.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cpu;

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
        let pool = pool(how)?;
        Ok(Box::new(move |control| {
            let task = |(task, keys): (usize, &mut [u64])| {
                let mut words = WordVec::of(host.labels.kind);
                let cells = grid.cells_from((task * TASK) as u64, keys.len());
                evaluate(host, &cells, words.reset(keys.len()), control)?;
                exact::make_keys(host.labels.kind, words.all_mut());
                keys.iter_mut().zip(words.all().iter()).for_each(|(key, word)| *key = word);
                Ok::<_, Error>(())
            };
            let mut keys = zeros(grid.cells() as usize).map_err(MemoryError::refused(Stored::Sample))?;
            if keys.len() <= TASK {
                task((0, &mut keys))?;
            } else {
                inside(pool.as_ref(), || keys.par_chunks_mut(TASK).enumerate().try_for_each(task))?;
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
        let storage = how.check(host.labels)?;
        let estimate = Estimate::new(plan, field, how);
        estimate.check(how.mem_limit)?;
        let pool = pool(how)?;
        Ok(Box::new(OnCpu {
            plan: plan.clone(),
            host,
            storage,
            how: how.clone(),
            dense: estimate.dense as u64,
            pool,
            last: None,
        }))
    }
}

/// Checks that the CPU understands how a plan is tuned.
fn check_here(how: &How) -> Result<(), Error> {
    match how.cuda {
        Some(_) => Err(Error::Unsupported { backend: "cpu", what: Unsupported::CudaTuning }),
        None => Ok(()),
    }
}

/// A pool of as many threads as were asked for; None: all, which the caller's pool has.
fn pool(how: &How) -> Result<Option<ThreadPool>, Error> {
    let Some(threads) = how.tuning.threads else { return Ok(None) };
    let start = || ThreadPoolBuilder::new().num_threads(threads).build();
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
fn inside<R: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> R + Send) -> R {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// A plan on the CPU. A run writes into the array of the one before.
struct OnCpu<'a, const K: usize> {
    plan: Plan<K>,
    host: Host<'a, K>,
    storage: Storage,
    how: How,
    /// Bytes of the dense array.
    dense: u64,
    pool: Option<ThreadPool>,
    last: Option<Subdivision<K>>,
}

impl<const K: usize> Prepared<K> for OnCpu<'_, K> {
    fn run(&mut self, control: &Control) -> Result<Times, Error> {
        let mut array = self.last.take().and_then(Subdivision::into_array);
        let Self { plan, host, storage, how, dense, .. } = &*self;
        if let (Some(byte), Keep::Dense) = (how.poison, how.kept.keep) {
            let mut poisoned = array.map_or_else(|| dense_array(plan, *storage), Ok)?;
            poisoned.poison(byte);
            array = Some(poisoned);
        }
        let done = inside(self.pool.as_ref(), || carry_out(plan, *host, *storage, how, *dense, control, array))?;
        let times = done.counts.times;
        self.last = Some(done);
        Ok(times)
    }

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        Ok(self.last.as_ref().expect("a plan is run before its counts are asked for").counts.clone())
    }

    fn result(&mut self) -> Result<Subdivision<K>, Error> {
        Ok(self.last.take().expect("a plan is run before its result is asked for"))
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        let last = self.last.as_ref().expect("a plan is run before its checksum is asked for");
        Ok(last.array.as_ref().map(DenseArray::checksum))
    }
}

/// The array that a run paints.
fn dense_array<const K: usize>(plan: &Plan<K>, storage: Storage) -> Result<DenseArray<K>, MemoryError> {
    DenseArray::zeroed(Stored::Dense, plan.domain().size(), storage.cell)
}

/// One run into `array`, which a run before this one may have left, or into a new one.
fn carry_out<const K: usize>(
    plan: &Plan<K>,
    host: Host<'_, K>,
    storage: Storage,
    how: &How,
    dense: u64,
    control: &Control,
    array: Option<DenseArray<K>>,
) -> Result<Subdivision<K>, Error> {
    control.begin();
    let start = Instant::now();
    let kept = &how.kept;
    let new = || (kept.keep == Keep::Dense).then(|| dense_array(plan, storage)).transpose();
    let mut array = array.map_or_else(new, |array| Ok(Some(array)))?;
    let limit = how.mem_limit.unwrap_or(u64::MAX).saturating_sub(dense);
    let sink = Sink::new(array.as_mut().map(DenseArray::canvas), kept.keep, storage, limit);
    let work = Work::new(plan, host, how, control, sink);
    let (levels, launches) = strategy::of::<K>(how.tuning.strategy).run(&work)?;
    let (terminals, bricks) = work.sink.finish();
    let times = Times { wall: start.elapsed(), device: None };
    debug_assert!(how.tuning.strategy != StrategyKind::Exhaustive || terminals.is_empty());
    let counts = RunCounts { levels, launches, times };
    counts.complete(plan.domain().cells()).map_err(|seen| Error::Incomplete { seen, total: plan.domain().cells() })?;
    Ok(Subdivision { plan: plan.clone(), counts, terminals, bricks, array })
}
