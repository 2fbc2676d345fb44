//! A run that several devices share.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::how::{How, StrategyKind};
use crate::backend::seam::Prepared;
use crate::cell::CellType;
use crate::plan::Plan;
use crate::result::{DenseArray, Keep, RunCounts, Stored, Subdivision, Times, dense_fits};

use super::common_work::{CommonWork, PieceWorker};
use super::gathered::FoundPieces;
use super::pieces::{PIECES, PieceOfWork};
use super::queue::PieceQueue;
use super::workers::{Busy, Worker, WorkerTask, all_covered, together};

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
    common: CommonWork<'w>,
    counts: Mutex<Option<RunCounts<K>>>,
    /// The dense array, if one is kept.
    array: Option<Mutex<DenseArray<K>>>,
}

impl<const K: usize> FleetWork<'_, K> {
    /// Carries out a piece.
    fn piece(&self, index: usize, plan: &mut dyn Prepared<K>, control: &Control, busy: &mut Busy) -> Result<(), Error> {
        let (piece, begun) = (&self.pieces[index], Instant::now());
        let times = plan.run(&piece.part(), control)?;
        busy.extend(times.device.map(|_| (begun, Instant::now())));
        if let Some(memory) = self.common.found.spare() {
            plan.reuse(memory);
        }
        let Subdivision { counts, terminals, bricks, array, cells, .. } = plan.subdivision()?;
        if let (Some(all), Some(array)) = (&self.array, array) {
            piece.show(self.plan, &array, &mut all.lock().unwrap_or_else(PoisonError::into_inner));
        }
        self.common.put(index, (terminals, bricks), cells)?;
        let mut all = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *all = Some(match all.take() {
            None => counts,
            Some(all) => all.join(&counts),
        });
        Ok(())
    }
}

/// A worker of a run.
struct WorkerOfRun<'w, 'a, const K: usize> {
    work: &'w FleetWork<'w, K>,
    worker: &'w mut Worker<'a, K>,
}

impl<const K: usize> PieceWorker for WorkerOfRun<'_, '_, K> {
    fn goes_on(&self) -> bool {
        self.worker.plan.is_some()
    }

    fn carry_out(&mut self, piece: usize, control: &Control, busy: &mut Busy) -> Result<(), Error> {
        let plan = self.worker.plan.as_mut().expect("the worker goes on");
        self.work.piece(piece, &mut **plan, control, busy)
    }

    fn stop(&mut self) {
        self.worker.plan = None;
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
        let (levels, in_order) = (self.plan.levels().len(), self.plan.curve().is_hierarchical());
        let found = FoundPieces::new(pieces.len(), levels, in_order, self.kind);
        let common = CommonWork::new(PieceQueue::new(pieces.len(), self.alive()), found, limit, control);
        let work = FleetWork { plan: &self.plan, pieces, common, counts: Mutex::new(None), array };
        let mut tasks: Vec<WorkerTask<'_>> = Vec::new();
        for worker in &mut self.workers {
            let (device, mut worker) = (worker.device, WorkerOfRun { work: &work, worker });
            tasks.push((device, Box::new(move |control| worker.work.common.by(&mut worker, device, control))));
        }
        let busy = together(tasks, control)?;
        let FleetWork { common, counts, array, .. } = work;
        self.stopped = common.queue.stopped()?.or(self.stopped.take());
        self.busy = all_covered(busy);
        let times = Times { wall: begun.elapsed(), device: self.busy.iter().max().copied() };
        let counts = counts.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut counts = RunCounts { times, ..counts.expect("there is a piece") };
        if self.how.tuning.strategy == StrategyKind::Exhaustive {
            // Slabs are no regions: the domain is one.
            for level in &mut counts.levels {
                (level.counts.regions, level.counts.leaves) = (1, 1);
            }
        }
        counts.complete(domain.cells()).map_err(|seen| Error::Incomplete { seen, total: domain.cells() })?;
        let mut all = Subdivision::new(self.plan.clone(), domain.region(), domain.cells(), counts, self.kind);
        common.found.finish(&mut all)?;
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
        let mut needed = 1;
        for worker in &self.workers {
            needed = needed.max(worker.plan.as_ref().map_or(1, |plan| plan.pieces()));
        }
        needed
    }

    /// Workers of each device that did not stop.
    fn alive(&self) -> Vec<usize> {
        let mut alive = vec![0; self.devices];
        for worker in &self.workers {
            alive[worker.device] += usize::from(worker.plan.is_some());
        }
        alive
    }

    /// The most cells that the box of a piece may have.
    fn room(&self) -> u128 {
        self.plan.domain().region().cells_wide().div_ceil(self.needed().into())
    }

    /// The first way to a device that did not stop; None if all did.
    pub(super) fn one(&self) -> Option<usize> {
        (0..self.workers.len()).find(|&worker| self.workers[worker].plan.is_some())
    }
}
