//! A plan on a device: compiled, allocated once, run as often as one likes. What depends on the number of dimensions; the rest is a
//! [`Runner`]'s.

use std::sync::atomic::{AtomicBool, Ordering};

use super::device::Device;
use super::outline::Outline;
use super::runner::{Aim, Runner};
use super::strategy::LevelRun;
use crate::backend::{
    Control, Error, Estimate, Expected, How, Mapping, OrderedSink, Part, Prepared, ResidentArray, ResidentRegions,
    SealedBackend, Sink, Start, StrategyKind, deliver, deliver_all, deliver_ordered,
};
use crate::field::Field;
use crate::geometry::{Level, Region};
use crate::plan::Plan;
use crate::result::{Cells, LevelStats, RunCounts, Subdivision, Times};

/// A plan on a device, ready to run.
pub(super) struct OnCuda<'a, const K: usize> {
    runner: Runner<'a>,
    plan: Plan<K>,
    field: &'a dyn Field<K>,
    /// What a dense array of the last run covers.
    window: Region<K>,
    /// Memory for the cells of the next result.
    spare: Option<Cells>,
    /// Others were told where the array lies, and may read it.
    lent: AtomicBool,
    /// Dropped last.
    _freed: Freed<'a>,
}

/// Gives the memory of what was dropped before it back to others: the pool does so when its stream is waited for.
struct Freed<'a>(&'a Device);

impl Drop for Freed<'_> {
    fn drop(&mut self) {
        // A device that has failed says so to whoever uses it next.
        let _ = self.0.synchronise("freeing what a plan had");
    }
}

impl<const K: usize> Drop for OnCuda<'_, K> {
    fn drop(&mut self) {
        if *self.lent.get_mut() {
            // Others queue their work in streams of their own. If the device has failed, none of that work goes on.
            let _ = self.runner.setup.device.quiet("waiting for those who read the dense array");
        }
    }
}

impl<'a, const K: usize> OnCuda<'a, K> {
    pub(super) fn new(device: &'a Device, plan: &Plan<K>, field: &'a dyn Field<K>, how: &How) -> Result<Self, Error> {
        let runner = Runner::new(device, Outline::new(plan, field), how)?;
        let (plan, window) = (plan.clone(), plan.domain().region());
        Ok(Self { runner, plan, field, window, spare: None, lent: AtomicBool::new(false), _freed: Freed(device) })
    }

    fn is_exhaustive(&self) -> bool {
        self.runner.setup.how.tuning.strategy == StrategyKind::Exhaustive
    }

    /// Regions that are expected of a run.
    fn expected(&self, start: &Start<'_, K>) -> f64 {
        Expected::of(&self.plan, self.field, start).regions.iter().sum()
    }

    /// Waits for whoever was told where the array lies, and may have queued work that writes into it in a stream of their own.
    fn wait_for_others(&self) -> Result<(), Error> {
        match self.lent.load(Ordering::Relaxed) {
            true => Ok(self.runner.setup.device.quiet("waiting for those who have the dense array")?),
            false => Ok(()),
        }
    }

    /// The cells of a dense array, by way of the host.
    fn deliver_cells(&self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let width = self.runner.setup.storage.cell.bytes();
        self.runner.cells(&mut |first, bytes| sink.cells(&self.window, first / width, bytes))
    }
}

impl<const K: usize> SealedBackend for OnCuda<'_, K> {}

impl<const K: usize> Prepared<K> for OnCuda<'_, K> {
    fn run(&mut self, part: &Part<'_, K>, control: &Control) -> Result<Times, Error> {
        self.runner.begin(control)?;
        let start = Start::new(&self.plan, false, part)?;
        let start = if self.is_exhaustive() { start.exhaustive(part)? } else { start };
        let expected = self.expected(&start);
        let aim = Aim {
            start: start.widened(),
            estimate: Estimate::from(&self.plan, self.field, &self.runner.setup.how, &start),
            expected,
            share: expected / self.expected(&Start::whole(&self.plan)),
        };
        self.window = start.window;
        self.runner.run(&aim, control)
    }

    fn mapping(&self) -> Mapping {
        self.runner.setup.how.tuning.mapping()
    }

    fn mapping_refused(&self) -> Option<&Error> {
        self.runner.refused.as_ref()
    }

    fn pieces(&self) -> u64 {
        self.runner.setup.pieces_of_array()
    }

    fn copied(&self) -> u64 {
        self.runner.setup.copied
    }

    fn counts(&self) -> Result<RunCounts<K>, Error> {
        let (found, last, start) = (self.runner.counts()?, self.runner.last(), &self.runner.setup.start);
        let mut levels = Vec::with_capacity(found.len());
        for (index, (run, counts)) in found.into_iter().enumerate() {
            let Some(&level) = self.plan.levels().get(start.level as usize + index) else { break };
            let level = if self.is_exhaustive() { Level::whole(self.window.extent) } else { level };
            let LevelRun { olt_entries, olt_bytes, kernels, time, .. } = run;
            let (table_entries, table_bytes) = (olt_entries, olt_bytes);
            levels.push(LevelStats {
                level,
                counts,
                olt_entries,
                olt_bytes,
                table_entries,
                table_bytes,
                kernels,
                time,
            });
        }
        let counts = RunCounts { levels, launches: last.launches, times: last.times };
        counts.complete(start.cells).map_err(|seen| Error::Incomplete { seen, total: start.cells })?;
        Ok(counts)
    }

    fn result(&mut self, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        self.wait_for_others()?;
        self.counts()?;
        let (terminals, mut bricks) = self.runner.collect()?;
        deliver(&self.plan, terminals, &mut bricks, sink)?;
        self.deliver_cells(sink)
    }

    fn subdivision(&mut self) -> Result<Subdivision<K>, Error> {
        self.wait_for_others()?;
        let (counts, setup) = (self.counts()?, &self.runner.setup);
        let mut all = Subdivision::new(self.plan.clone(), self.window, setup.start.cells, counts, setup.storage.cell);
        all.bricks = self.spare.take().unwrap_or(all.bricks);
        let (terminals, mut bricks) = self.runner.collect()?;
        deliver_all(terminals, &mut bricks, &mut all)?;
        self.deliver_cells(&mut all)?;
        Ok(all)
    }

    fn ordered(&mut self, sink: &dyn OrderedSink<K>) -> Result<(), Error> {
        self.wait_for_others()?;
        self.counts()?;
        let (terminals, mut bricks) = self.runner.collect()?;
        deliver_ordered(&self.plan, terminals, &mut bricks, sink)
    }

    fn reuse(&mut self, memory: Cells) {
        self.spare = Some(memory);
    }

    fn checksum(&self) -> Result<Option<String>, Error> {
        self.wait_for_others()?;
        self.runner.checksum()
    }

    fn resident_array(&self) -> Result<Option<ResidentArray<K>>, Error> {
        self.runner.last();
        let setup = &self.runner.setup;
        let Some(bytes) = setup.dense else { return Ok(None) };
        setup.device.quiet("finishing the dense array")?;
        self.lent.store(true, Ordering::Relaxed);
        let (address, ordinal) = (setup.array.address(), setup.device.ordinal());
        Ok(Some(ResidentArray { address, bytes, ordinal, window: self.window, cell: setup.storage.cell }))
    }

    fn resident_regions(&self) -> Result<Option<ResidentRegions>, Error> {
        self.runner.last();
        let setup = &self.runner.setup;
        let Some(left) = self.runner.regions() else { return Ok(None) };
        setup.device.quiet("finishing the lists of regions")?;
        self.lent.store(true, Ordering::Relaxed);
        // Nothing is said of levels above the roots.
        let above = std::iter::repeat_n(0..0, setup.start.level as usize);
        Ok(Some(ResidentRegions {
            ordinal: setup.device.ordinal(),
            cell: setup.storage.cell,
            levels: above.chain(left.levels).collect(),
            codes: left.codes,
            words: left.words,
            places: left.places,
            cells: left.bricks,
            leaves: left.leaves,
            each: setup.outline.last().most_cells(),
        }))
    }
}
