//! A run that several devices share.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::how::{How, StrategyKind};
use crate::backend::seam::Prepared;
use crate::cell::CellType;
use crate::plan::Plan;
use crate::result::{DenseArray, Keep, MemoryError, RunCounts, Stored, Subdivision, Terminal, Times, dense_fits};

use super::gathered::FoundPieces;
use super::pieces::{PIECES, PieceOfWork};
use super::queue::{PieceQueue, is_of_a_device};
use super::workers::{Busy, Worker, WorkerTask, covered, together};

/// A plan that several devices are ready to share.
pub(super) struct SharedRun<'a, const K: usize> {
    pub(super) plan: Plan<K>,
    pub(super) how: How,
    /// The type of a stored cell.
    pub(super) kind: CellType,
    pub(super) devices: usize,
    /// The first of each device, and then what there is of second ones.
    pub(super) workers: Vec<Worker<'a, K>>,
    /// How long each device ran something in the last run; nothing of a kind that does not say.
    pub(super) busy: Vec<Duration>,
    /// Why a device stopped, if one did.
    pub(super) stopped: Option<Error>,
}

/// What the workers have in common while they work.
struct FleetWork<'w, const K: usize> {
    plan: &'w Plan<K>,
    pieces: Vec<PieceOfWork<K>>,
    queue: PieceQueue,
    found: FoundPieces,
    counts: Mutex<Option<RunCounts<K>>>,
    /// The dense array, if one is kept.
    array: Option<Mutex<DenseArray<K>>>,
    /// Bytes of the pieces that are found, and how many there may be.
    kept: AtomicU64,
    limit: Option<u64>,
    /// The run as a whole, as its caller sees it.
    control: &'w Control,
}

impl<const K: usize> FleetWork<'_, K> {
    /// Carries out pieces until there are none, or the device has to stop; when the device ran something.
    fn by(&self, worker: &mut Worker<'_, K>, control: &Control) -> Result<Busy, Error> {
        let mut busy = Vec::new();
        while let Some(plan) = &mut worker.plan {
            let Some((piece, with)) = self.queue.take(worker.device, control)? else { break };
            match self.piece(piece, &mut **plan, control, &mut busy) {
                Ok(()) => self.queue.done(),
                Err(error) if is_of_a_device(&error) => {
                    self.queue.give_back(piece, worker.device, with, error, || worker.plan = None);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(busy)
    }

    /// Carries out a piece.
    fn piece(&self, index: usize, plan: &mut dyn Prepared<K>, control: &Control, busy: &mut Busy) -> Result<(), Error> {
        let (piece, begun) = (&self.pieces[index], Instant::now());
        let times = plan.run(&piece.part(), control)?;
        busy.extend(times.device.map(|_| (begun, Instant::now())));
        if let Some(memory) = self.found.spare() {
            plan.reuse(memory);
        }
        let mut found = plan.subdivision()?;
        if let (Some(all), Some(array)) = (&self.array, found.array.take()) {
            piece.show(self.plan, &array, &mut all.lock().unwrap_or_else(PoisonError::into_inner));
        }
        // Regions are there twice when they are put together.
        let bytes = 2 * found.terminals.len() as u64 * Terminal::BYTES
            + found.bricks.len() as u64 * found.bricks.kind().bytes();
        let need = self.kept.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if self.limit.is_some_and(|limit| need > limit) {
            return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: self.limit }.into());
        }
        self.control.advance(found.cells() as u64);
        let Subdivision { counts: more, terminals, bricks, .. } = found;
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts = Some(match counts.take() {
            None => more,
            Some(counts) => counts.join(&more),
        });
        drop(counts);
        self.found.put(index, (terminals, bricks))?;
        Ok(())
    }
}

impl<const K: usize> SharedRun<'_, K> {
    /// Carries out the whole plan.
    pub(super) fn all(&mut self, control: &Control) -> Result<(Subdivision<K>, Times), Error> {
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
        let pieces = PieceOfWork::of(&self.plan, &self.how, self.pieces(), self.room());
        let alive =
            |device| self.workers.iter().filter(|worker| worker.plan.is_some() && worker.device == device).count();
        let work = FleetWork {
            plan: &self.plan,
            queue: PieceQueue::new(pieces.len(), (0..self.devices).map(alive).collect()),
            found: FoundPieces::new(
                pieces.len(),
                self.plan.levels().len(),
                self.plan.curve().is_hierarchical(),
                self.kind,
            ),
            counts: Mutex::new(None),
            pieces,
            array,
            kept: AtomicU64::new(0),
            limit,
            control,
        };
        let shared = &work;
        let tasks = self.workers.iter_mut().map(|worker| {
            let task: WorkerTask<'_> = (worker.device, Box::new(|control: &Control| shared.by(worker, control)));
            task
        });
        let busy = together(tasks.collect(), control)?;
        let FleetWork { queue, found, counts, array, .. } = work;
        self.stopped = queue.stopped()?.or(self.stopped.take());
        self.busy = if busy.iter().all(Vec::is_empty) { Vec::new() } else { busy.into_iter().map(covered).collect() };
        let busiest = self.busy.iter().max().copied();
        let times = Times { wall: begun.elapsed(), device: busiest };
        let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut counts = RunCounts { times, ..counts.expect("there is a piece") };
        if self.how.tuning.strategy == StrategyKind::Exhaustive {
            // Slabs are no regions: the domain is one.
            counts.levels.iter_mut().for_each(|level| (level.counts.regions, level.counts.leaves) = (1, 1));
        }
        counts.complete(domain.cells()).map_err(|seen| Error::Incomplete { seen, total: domain.cells() })?;
        let mut all = Subdivision::new(self.plan.clone(), domain.region(), domain.cells(), counts, self.kind);
        found.finish(&mut all)?;
        all.array = array.map(|array| array.into_inner().unwrap_or_else(PoisonError::into_inner));
        all.counts.times.wall = begun.elapsed();
        let times = all.counts.times;
        Ok((all, times))
    }

    /// Into how many pieces a run is cut: some for each device, and more if a device has no room for larger ones.
    fn pieces(&self) -> u64 {
        // The first piece is half as large again as the mean.
        (PIECES * self.devices as u64).max((3 * self.needed()).div_ceil(2))
    }

    /// Into how many pieces of one size the device with the least room needs a run to be cut.
    fn needed(&self) -> u64 {
        let plans = self.workers.iter().filter_map(|worker| worker.plan.as_ref());
        plans.map(|plan| plan.pieces()).max().unwrap_or(1)
    }

    /// The most cells that the box of a piece may have.
    fn room(&self) -> u128 {
        self.plan.domain().region().cells_wide().div_ceil(self.needed().into())
    }

    /// The first way to a device that did not stop; None if all did.
    pub(super) fn one(&self) -> Option<usize> {
        self.workers.iter().position(|worker| worker.plan.is_some())
    }
}
