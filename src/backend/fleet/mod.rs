//! Several devices of a kind as one backend.
//!
//! A plan is cut into pieces along its curve: runs of regions of level 0. Whichever device has nothing to do takes the next one.
//! Nothing below level 0 depends on another piece, so that regions, counts and cells are those of one device.

mod common_work;
mod gathered;
mod pieces;
mod queue;
mod shared_run;
mod workers;

use std::time::Duration;

use crate::backend::balanced::{Balanced, Balances, Balancing};
use crate::backend::control::Control;
use crate::backend::error::Error;
use crate::backend::facts::DeviceFacts;
use crate::backend::how::{How, Mapping, StrategyKind};
use crate::backend::ordered::{OrderedSink, deliver_ordered};
use crate::backend::part::Part;
use crate::backend::seam::sealed::SealedBackend;
use crate::backend::seam::{Backend, Place, Prepared, Sampler};
use crate::backend::sink::{Batch, Sink, deliver_array};
use crate::field::Field;
use crate::geometry::{Domain, SampleGrid};
use crate::plan::Plan;
use crate::result::{Bricks, DenseArray, MemoryError, RunCounts, Stored, Subdivision, Times};

pub use pieces::{PIECES, ROOTS_OF_A_PIECE};
use queue::is_of_a_device;
use shared_run::SharedRun;
use workers::Worker;

/// Devices of one kind that share the work of a run. One alone is that device.
#[derive(Debug)]
pub struct Fleet<T> {
    members: Vec<T>,
    /// A second way to each of several devices: one piece is made ready and read back while another one runs.
    seconds: Vec<T>,
    device: Option<String>,
}

impl<T: Place> Fleet<T> {
    /// All of them as one.
    ///
    /// # Errors
    /// If a device cannot be opened a second time.
    ///
    /// # Panics
    /// If there is none.
    pub(crate) fn of(mut members: Vec<T>) -> Result<Self, Error> {
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
        let seconds: Vec<Option<T>> = match &mut members[..] {
            [_] => Vec::new(),
            several => several.iter_mut().map(Place::second).collect::<Result<_, _>>()?,
        };
        Ok(Self { members, seconds: seconds.into_iter().flatten().collect(), device })
    }

    /// One alone, as one of the kind.
    pub(crate) fn one(member: T) -> Self {
        let device = member.device().map(str::to_owned);
        Self { members: vec![member], seconds: Vec::new(), device }
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

    /// Its devices have theirs.
    fn second(&mut self) -> Result<Option<Self>, Error> {
        Ok(None)
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
        let member = |device: usize| -> &'a dyn Backend<K> { &self.members[device] };
        let second = |device: usize| -> Option<&'a dyn Backend<K>> { Some(self.seconds.get(device)?) };
        Ways { devices: self.members.len(), member: &member, second: &second }.prepare(plan, field, how)
    }
}

/// The ways to the devices of a fleet.
struct Ways<'w, 'a, const K: usize> {
    devices: usize,
    /// The first way to a device.
    member: &'w dyn Fn(usize) -> &'a dyn Backend<K>,
    /// The second one, if there is one.
    second: &'w dyn Fn(usize) -> Option<&'a dyn Backend<K>>,
}

impl<'a, const K: usize> Ways<'_, 'a, K> {
    /// As [`Backend::prepare`].
    fn prepare(&self, plan: &Plan<K>, field: &'a dyn Field<K>, how: &How) -> Result<Box<dyn Prepared<K> + 'a>, Error> {
        let mut workers = Vec::new();
        if self.devices == 1 {
            let prepared = (self.member)(0).prepare(plan, field, how)?;
            if prepared.pieces() == 1 {
                return Ok(prepared);
            }
            workers.push(Worker { device: 0, plan: Some(prepared) });
        }
        let kind = how.check(field.labels())?.cell;
        for device in workers.len()..self.devices {
            workers.push(Worker { device, plan: Some((self.member)(device).prepare(plan, field, how)?) });
        }
        // Launches from a device have one limit for all that runs there.
        let seconds = if how.tuning.strategy == StrategyKind::Dp { 0 } else { self.devices };
        for device in 0..seconds {
            let Some(way) = (self.second)(device) else { break };
            match way.prepare(plan, field, how) {
                Ok(prepared) => workers.push(Worker { device, plan: Some(prepared) }),
                // A device that has no room for two goes on with one.
                Err(error) if is_of_a_device(&error) => {}
                Err(error) => return Err(error),
            }
        }
        let shared = SharedRun {
            plan: plan.clone(),
            how: how.clone(),
            kind,
            devices: self.devices,
            workers,
            busy: Vec::new(),
            stopped: None,
        };
        Ok(Box::new(FleetPlan { shared, last: None }))
    }
}

/// A plan that several devices are ready to carry out.
struct FleetPlan<'a, const K: usize> {
    shared: SharedRun<'a, K>,
    last: Option<LastRun<K>>,
}

/// Who has the last run.
enum LastRun<const K: usize> {
    /// A worker, which was given a part of the plan.
    One(usize),
    /// All of them: what came of it, until it is taken.
    All { counts: RunCounts<K>, found: Option<Box<Subdivision<K>>> },
}

impl<'a, const K: usize> FleetPlan<'a, K> {
    /// A worker's plan.
    ///
    /// # Panics
    /// If the worker has stopped.
    fn of(&self, worker: usize) -> &(dyn Prepared<K> + 'a) {
        &**self.shared.workers[worker].plan.as_ref().expect("a worker that ran a part has its plan")
    }

    fn of_mut(&mut self, worker: usize) -> &mut (dyn Prepared<K> + 'a) {
        &mut **self.shared.workers[worker].plan.as_mut().expect("a worker that ran a part has its plan")
    }

    fn found(&self) -> &LastRun<K> {
        self.last.as_ref().expect("a plan is run before it is asked about")
    }

    /// The result of the last run; or the worker that has it.
    fn taken(&mut self) -> Result<Subdivision<K>, usize> {
        match self.last.as_mut().expect("a plan is run before it is asked about") {
            LastRun::One(worker) => Err(*worker),
            LastRun::All { found, .. } => {
                Ok(*found.take().expect("a plan is run again before its result is asked for again"))
            }
        }
    }
}

impl<const K: usize> SealedBackend for FleetPlan<'_, K> {}

impl<const K: usize> Prepared<K> for FleetPlan<'_, K> {
    fn run(&mut self, part: &Part<'_, K>, control: &Control) -> Result<Times, Error> {
        self.last = None;
        let Some(one) = self.shared.one() else {
            return Err(Error::System("every device stopped in a run before: prepare the plan anew".into()));
        };
        if *part != Part::default() {
            let times = self.of_mut(one).run(part, control)?;
            self.last = Some(LastRun::One(one));
            return Ok(times);
        }
        let (found, times) = self.shared.all(control)?;
        self.last = Some(LastRun::All { counts: found.counts().clone(), found: Some(Box::new(found)) });
        Ok(times)
    }

    fn mapping(&self) -> Mapping {
        self.shared.one().map_or(self.shared.how.tuning.mapping(), |one| self.of(one).mapping())
    }

    fn mapping_refused(&self) -> Option<&Error> {
        self.of(self.shared.one()?).mapping_refused()
    }

    fn copied(&self) -> u64 {
        let mut copied = 0;
        for worker in &self.shared.workers {
            copied += worker.plan.as_ref().map_or(0, |plan| plan.copied());
        }
        copied
    }

    fn busy(&self) -> Vec<Duration> {
        match &self.last {
            Some(LastRun::All { .. }) if self.shared.devices > 1 => self.shared.busy.clone(),
            _ => Vec::new(),
        }
    }

    fn stopped(&self) -> Option<&Error> {
        self.shared.stopped.as_ref()
    }

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        match self.found() {
            LastRun::One(worker) => self.of(*worker).counts(),
            LastRun::All { counts, .. } => Ok(counts.clone()),
        }
    }

    fn result(&mut self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let all = match self.taken() {
            Ok(all) => all,
            Err(worker) => return self.of_mut(worker).result(sink),
        };
        if !all.terminals.is_empty() {
            let plan = &self.shared.plan;
            sink.terminals(Batch { plan, terminals: &all.terminals, bricks: &all.bricks, start: 0 })?;
        }
        deliver_array(all.array(), sink)
    }

    fn subdivision(&mut self) -> Result<Subdivision<K>, Error> {
        match self.taken() {
            Ok(all) => Ok(all),
            Err(worker) => self.of_mut(worker).subdivision(),
        }
    }

    fn ordered(&mut self, sink: &dyn OrderedSink<K>) -> Result<(), Error> {
        let Subdivision { terminals, bricks: cells, .. } = match self.taken() {
            Ok(all) => all,
            Err(worker) => return self.of_mut(worker).ordered(sink),
        };
        let mut bricks = Bricks::new(cells.kind());
        bricks.append(cells).map_err(MemoryError::refused(Stored::Terminals))?;
        deliver_ordered(&self.shared.plan, terminals, &mut bricks, sink)
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        match self.found() {
            LastRun::One(worker) => self.of(*worker).checksum(),
            LastRun::All { found, .. } => {
                let found =
                    found.as_ref().expect("a plan is run again before the checksum of a taken array is asked for");
                Ok(found.array().map(DenseArray::checksum))
            }
        }
    }
}
