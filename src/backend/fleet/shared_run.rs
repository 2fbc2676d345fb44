//! A run that several devices share.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::how::{How, StrategyKind};
use crate::cell::CellType;
use crate::plan::Plan;
use crate::result::{DenseArray, Keep, RunCounts, Stored, Subdivision, Times, dense_fits};

use super::common_work::{CommonWork, PieceWorker, WorkerOfDevice};
use super::gathered::FoundPieces;
use super::pieces::{PIECES, PieceOfWork};
use super::queue::PieceQueue;
use super::workers::{Busy, Worker};

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

/// What all workers look at and write to while they work.
struct FleetWork<'w, const K: usize> {
    plan: &'w Plan<K>,
    pieces: Vec<PieceOfWork<K>>,
    seen: Mutex<SeenOfPieces<K>>,
}

/// What was seen of the pieces that are done.
struct SeenOfPieces<const K: usize> {
    counts: Option<RunCounts<K>>,
    /// The dense array, if one is kept.
    array: Option<DenseArray<K>>,
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

    fn carry_out(
        &mut self,
        index: usize,
        common: &CommonWork<'_>,
        control: &Control,
        busy: &mut Busy,
    ) -> Result<(), Error> {
        let plan = self.worker.plan.as_mut().expect("the worker goes on");
        let (piece, begun) = (&self.work.pieces[index], Instant::now());
        let times = plan.run(&piece.part(), control)?;
        if times.device.is_some() {
            busy.push((begun, Instant::now()));
        }
        if let Some(memory) = common.found.spare() {
            plan.reuse(memory);
        }
        let Subdivision { counts, terminals, bricks, array, cells, .. } = plan.subdivision()?;
        let mut seen = self.work.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let (Some(all), Some(array)) = (&mut seen.array, array) {
            piece.show(self.work.plan, &array, all);
        }
        seen.counts = Some(match seen.counts.take() {
            None => counts,
            Some(all) => all.join(&counts),
        });
        drop(seen);
        common.put(index, (terminals, bricks), cells)
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
        let seen = Mutex::new(SeenOfPieces { counts: None, array: self.array()? });
        let pieces = PieceOfWork::of(&self.plan, &self.how, self.pieces(), self.room());
        let (levels, in_order) = (self.plan.levels().len(), self.plan.curve().is_hierarchical());
        let found = FoundPieces::new(pieces.len(), levels, in_order, self.kind);
        let queue = PieceQueue::new(pieces.len(), self.alive());
        let work = FleetWork { plan: &self.plan, pieces, seen };
        let mut workers: Vec<WorkerOfDevice<'_>> = Vec::new();
        for worker in &mut self.workers {
            workers.push((worker.device, Box::new(WorkerOfRun { work: &work, worker })));
        }
        let done = CommonWork::new(queue, found, self.how.mem_limit, control).done(workers)?;
        let seen = work.seen.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.stopped = done.stopped.or(self.stopped.take());
        self.busy = done.busy;
        let mut all = self.put_together(seen, done.found)?;
        let times = Times { wall: begun.elapsed(), device: self.busy.iter().max().copied() };
        all.counts.times = times;
        Ok((all, times))
    }

    /// An array for the cells of all pieces, if one is kept.
    fn array(&self) -> Result<Option<DenseArray<K>>, Error> {
        if self.how.kept.keep != Keep::Dense {
            return Ok(None);
        }
        let domain = self.plan.domain();
        dense_fits(Stored::Dense, domain.cells(), self.kind, self.how.mem_limit)?;
        Ok(Some(DenseArray::zeroed(Stored::Dense, domain.region(), self.kind)?))
    }

    /// What all pieces come to.
    fn put_together(&self, seen: SeenOfPieces<K>, found: FoundPieces) -> Result<Subdivision<K>, Error> {
        let (domain, mut counts) = (self.plan.domain(), seen.counts.expect("there is a piece"));
        if self.how.tuning.strategy == StrategyKind::Exhaustive {
            // Slabs are no regions: the domain is one.
            for level in &mut counts.levels {
                (level.counts.regions, level.counts.leaves) = (1, 1);
            }
        }
        counts.complete(domain.cells()).map_err(|seen| Error::Incomplete { seen, total: domain.cells() })?;
        let mut all = Subdivision::new(self.plan.clone(), domain.region(), domain.cells(), counts, self.kind);
        all.array = seen.array;
        found.finish(&mut all)?;
        Ok(all)
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
