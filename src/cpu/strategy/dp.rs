//! Dynamic parallelism on the CPU: every mixed region launches a task for its r^k children.
//!
//! As on a GPU, launches in flight are limited: a launch that finds no room runs inside its parent instead, so nothing
//! is lost and memory stays bounded whatever the depth. There is no table; a task holds the codes of one family.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::Scope;

use crate::backend::Error;
use crate::cpu::olt::family;
use crate::cpu::strategy::definition::Strategy;
use crate::cpu::work::Work;
use crate::field::Payload;
use crate::memory::copies;
use crate::parallel;
use crate::result::{Launches, LevelKernels, LevelStats, MemoryError, Stored};

/// Roots per task.
const ROOTS: usize = 64;

/// Tasks in flight unless told otherwise: what GPUs run at once.
const TASKS: u64 = 128;

pub(super) struct Dp;

/// A run's launches, and the first thing that went wrong.
struct Tasks<'a, 'c, const K: usize> {
    work: &'a Work<'c, K>,
    in_flight: AtomicU64,
    most_in_flight: AtomicU64,
    /// Per level.
    kernels: Vec<AtomicU64>,
    in_place: AtomicU64,
    failure: Mutex<Option<Error>>,
}

impl<const K: usize> Strategy<K> for Dp {
    fn run(&self, work: &Work<'_, K>) -> Result<(Vec<LevelStats<K>>, Launches), Error> {
        let tasks = Tasks {
            work,
            in_flight: AtomicU64::new(1),
            most_in_flight: AtomicU64::new(1),
            kernels: (work.plan.levels().iter())
                .map(|level| AtomicU64::new(u64::from(level.index == work.start.level)))
                .collect(),
            in_place: AtomicU64::new(0),
            failure: Mutex::new(None),
        };
        let (start, roots) = (work.start, work.start.len() as usize);
        parallel::scope(&|scope| {
            // The roots are one launch, shared by the workers.
            parallel::each(roots.div_ceil(ROOTS), &|i| {
                let root = |i| (start.code(i as u64), start.payload(work.plan, work.host.carry, i as u64));
                tasks.explore(scope, start.level, &parallel::piece(roots, ROOTS, i).map(root).collect::<Vec<_>>());
            });
            tasks.in_flight.fetch_sub(1, Ordering::Relaxed);
        });
        if let Some(failure) = tasks.failure.into_inner().expect("no worker panics holding it") {
            return Err(failure);
        }
        // Levels run side by side, so that a list for each is one for all.
        let settled = work.settle_listed()?;
        let mut stats: Vec<LevelStats<K>> = (work.plan.levels()[start.level as usize..].iter())
            .map(|&level| {
                let explore = tasks.kernels[level.index as usize].load(Ordering::Relaxed);
                let kernels = LevelKernels { explore, ..LevelKernels::default() };
                LevelStats::without_tables(level, work.counts(level.index), kernels)
            })
            .take_while(|stats| stats.level.index == start.level || stats.counts.regions > 0)
            .collect();
        if settled {
            stats.last_mut().expect("a run has a level").kernels.leaf += 1;
        }
        let in_place = tasks.in_place.into_inner();
        let launches = Launches {
            kernels: tasks.kernels.into_iter().map(AtomicU64::into_inner).sum::<u64>() + u64::from(settled),
            most_in_flight: tasks.most_in_flight.into_inner(),
            credits: work.how.tuning.max_kernels.map_or(TASKS, u64::from),
            refused: in_place,
            in_place,
            ..Launches::default()
        };
        Ok((stats, launches))
    }
}

impl<'a, const K: usize> Tasks<'a, '_, K> {
    /// Explores regions of one level and launches the children of the mixed ones.
    fn explore<'s>(&'s self, scope: &Scope<'s>, level: u32, regions: &[(u64, Payload)]) {
        if self.failure.lock().expect("no worker panics holding it").is_some() {
            return;
        }
        let mut mixed = match copies(false, regions.len()).map_err(MemoryError::refused(Stored::Outcomes)) {
            Ok(mixed) => mixed,
            Err(error) => return self.fail(error.into()),
        };
        if let Err(error) = self.work.process(level, regions, &mut mixed) {
            return self.fail(error);
        }
        if self.work.plan.is_last(level) {
            return;
        }
        for (&(code, payload), _) in regions.iter().zip(&mixed).filter(|&(_, &mixed)| mixed) {
            let children = match family(self.work.plan, self.work.host.carry, level, code, payload) {
                Ok(children) => children,
                Err(error) => return self.fail(error.into()),
            };
            self.kernels[level as usize + 1].fetch_add(1, Ordering::Relaxed);
            if self.take_credit() {
                scope.spawn(move |scope| {
                    self.explore(scope, level + 1, &children);
                    self.in_flight.fetch_sub(1, Ordering::Relaxed);
                });
            } else {
                self.in_place.fetch_add(1, Ordering::Relaxed);
                self.explore(scope, level + 1, &children);
            }
        }
    }

    /// The first failure is the run's.
    fn fail(&self, error: Error) {
        self.failure.lock().expect("no worker panics holding it").get_or_insert(error);
    }

    /// Takes one of the launches that may be in flight, if there is one left.
    fn take_credit(&self) -> bool {
        let limit = self.work.how.tuning.max_kernels.map_or(TASKS, u64::from);
        let taken =
            (self.in_flight).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| (n < limit).then_some(n + 1));
        if let Ok(before) = taken {
            self.most_in_flight.fetch_max(before + 1, Ordering::Relaxed);
        }
        taken.is_ok()
    }
}
