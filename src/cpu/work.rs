//! The verbs that strategies are written in, on rayon's threads.
//!
//! Two verbs carry the weight. [`Work::process`] explores a batch of regions of one level: ASK calls it for pieces of a table,
//! DP for the children of one region. Regions that it finds terminal are settled in the same batch, or listed until
//! [`Work::settle_listed`] does it. Counts are gathered per batch and merged once, results go to [`Settled`].

use std::sync::Mutex;

use crate::backend::{Control, Error, How, LISTED, Listed, Mapping, PIECE, Pass, Start};
use crate::cell::WordsMut;
use crate::cpu::explore::{Explorer, Scratch, Unsettled, explore};
use crate::cpu::host::Host;
use crate::cpu::patience::{FILLED, evaluate};
use crate::cpu::settled::{Compact, Settled};
use crate::cpu::visit::VisitOrders;
use crate::field::Payload;
use crate::geometry::{Region, Slabs};
use crate::memory::reserve;
use crate::parallel::{self, Spare};
use crate::plan::Plan;
use crate::result::{Keep, LevelCounts, MemoryError, Stored};

/// Listed regions that are settled together, at most.
const TOGETHER: usize = 256;

/// One run on the CPU.
pub(crate) struct Work<'a, const K: usize> {
    pub(crate) plan: &'a Plan<K>,
    pub(crate) host: Host<'a, K>,
    pub(crate) how: &'a How,
    pub(crate) control: &'a Control,
    explorer: Explorer<'a, K>,
    pub(crate) start: &'a Start<'a, K>,
    pub(crate) settled: Settled<'a, K>,
    counts: Vec<Mutex<LevelCounts>>,
    listed: Mutex<Vec<Listed>>,
    scratch: Spare<Scratch<K>>,
}

impl<'a, const K: usize> Work<'a, K> {
    pub(crate) fn new(
        plan: &'a Plan<K>,
        host: Host<'a, K>,
        how: &'a How,
        control: &'a Control,
        start: &'a Start<'a, K>,
        settled: Settled<'a, K>,
    ) -> Self {
        Self {
            plan,
            host,
            how,
            control,
            explorer: Explorer {
                host,
                orders: VisitOrders::new(plan, how.tuning.explore_order),
                rule: plan.rule(),
                size: plan.domain().size(),
                proves: how.tuning.asks_proofs(plan.rule()),
                order: how.tuning.explore_order,
            },
            start,
            settled,
            counts: plan.levels().iter().map(|_| Mutex::default()).collect(),
            listed: Mutex::default(),
            scratch: Spare::new(),
        }
    }

    /// Explores regions of one level given by code and payload, settles or lists the terminal ones, and says of each whether it
    /// is mixed.
    ///
    /// # Errors
    /// If the run was cancelled or its results outgrew the memory limit.
    pub(crate) fn process(&self, level: u32, regions: &[(u64, Payload)], mixed: &mut [bool]) -> Result<(), Error> {
        self.control.check()?;
        let mut scratch = self.take_scratch();
        let result = self.process_with(level, regions, mixed, &mut scratch);
        self.scratch.give(scratch);
        result
    }

    fn take_scratch(&self) -> Scratch<K> {
        self.scratch.take().unwrap_or_else(|| Scratch::new(self.settled.storage()))
    }

    fn process_with(
        &self,
        level: u32,
        regions: &[(u64, Payload)],
        mixed: &mut [bool],
        scratch: &mut Scratch<K>,
    ) -> Result<(), Error> {
        scratch.regions.clear();
        scratch.regions.reserve(regions.len());
        for &(code, _) in regions {
            scratch.regions.push(self.plan.region(level, code));
        }
        let cost = explore(&self.explorer, level, |i| regions[i].1, scratch, self.control)?;
        let mut counts = LevelCounts {
            regions: mixed.len() as u64,
            proven: cost.proven,
            explored_cells: cost.cells,
            label_sum: cost.labels,
            ..LevelCounts::default()
        };
        let last = self.plan.is_last(level);
        let kept = self.how.kept.keep != Keep::Counts;
        scratch.terminal.clear();
        for (i, mixed) in mixed.iter_mut().enumerate() {
            let label = scratch.found[i];
            *mixed = label.is_none();
            if label.is_some() {
                counts.filled += 1;
                counts.filled_cells += scratch.regions[i].volume();
            } else if last {
                counts.leaves += 1;
                counts.leaf_cells += scratch.regions[i].volume();
            } else {
                counts.subdivided += 1;
                continue;
            }
            if kept {
                let region = scratch.regions[i];
                scratch.terminal.push(Unsettled { level, code: regions[i].0, region, label });
            }
        }
        self.count(level, counts);
        if !kept {
            self.control.advance(counts.filled_cells + counts.leaf_cells);
            return Ok(());
        }
        if self.how.tuning.pass_on_cpu() == Pass::InPlace {
            let terminal = std::mem::take(&mut scratch.terminal);
            self.settle(&terminal, scratch)?;
            scratch.terminal = terminal;
            return Ok(());
        }
        let mut listed = self.listed.lock().expect("no worker panics holding it");
        self.settled.hold((listed.len() + scratch.terminal.len()) as u64 * LISTED)?;
        reserve(&mut listed, scratch.terminal.len()).map_err(MemoryError::refused(Stored::Listed))?;
        listed.extend(scratch.terminal.iter().map(|terminal| (terminal.level, terminal.code, terminal.label)));
        Ok(())
    }

    /// Settles all regions that were listed so far; false if there were none.
    ///
    /// # Errors
    /// As [`process`](Self::process).
    pub(crate) fn settle_listed(&self) -> Result<bool, Error> {
        let listed = std::mem::take(&mut *self.listed.lock().expect("no worker panics holding it"));
        let each = (listed.len() / (8 * rayon::current_num_threads())).clamp(1, TOGETHER);
        parallel::try_each(listed.len().div_ceil(each), &|i| {
            let listed = &listed[parallel::piece(listed.len(), each, i)];
            self.control.check()?;
            let mut scratch = self.take_scratch();
            let unsettled =
                |&(level, code, label)| Unsettled { level, code, region: self.plan.region(level, code), label };
            let mut terminal = std::mem::take(&mut scratch.terminal);
            terminal.clear();
            terminal.extend(listed.iter().map(unsettled));
            let result = self.settle(&terminal, &mut scratch);
            scratch.terminal = terminal;
            self.scratch.give(scratch);
            result
        })?;
        self.settled.hold(0)?;
        Ok(!listed.is_empty())
    }

    /// Fills uniform regions and evaluates leaves.
    fn settle(&self, terminal: &[Unsettled<K>], scratch: &mut Scratch<K>) -> Result<(), Error> {
        let mut batch = self.settled.batch();
        let mut cells = 0;
        for &Unsettled { level, code, region, label } in terminal {
            cells += region.volume();
            match label.map(|label| self.settled.storage().word(label)) {
                Some(word) => {
                    self.fill(&region, word)?;
                    batch.uniform(level, code, word);
                }
                None => batch.leaf(level, code, region.volume()),
            }
        }
        self.evaluate_leaves(terminal, &mut batch, scratch)?;
        self.control.advance(cells);
        Ok(self.settled.commit(batch)?)
    }

    /// Evaluates every cell of a region without exploring it.
    ///
    /// # Errors
    /// If the run was cancelled.
    pub(crate) fn evaluate(&self, region: &Region<K>) -> Result<(), Error> {
        self.control.check()?;
        let mut scratch = self.take_scratch();
        scratch.cells.clear();
        region.extend_cells(&mut scratch.cells);
        evaluate(self.host, &scratch.cells, scratch.labels.reset(scratch.cells.len()), self.control)?;
        self.settled.write(region, self.settled.storage().cells(scratch.labels.all(), &mut scratch.converted));
        let volume = region.volume();
        let mut counts = LevelCounts { evaluated_cells: volume, ..LevelCounts::default() };
        if self.host.labels.work() {
            counts.label_sum = scratch.labels.all().sum();
        }
        self.count(0, counts);
        self.control.advance(volume);
        self.scratch.give(scratch);
        Ok(())
    }

    /// Checks tables or lists of `bytes` bytes against what the limit leaves beside a dense array.
    ///
    /// # Errors
    /// [`Error::Memory`] with the figure.
    pub(crate) fn fits(&self, what: Stored, bytes: u128) -> Result<(), Error> {
        let limit = self.settled.limit();
        if bytes > u128::from(limit) {
            return Err(MemoryError { what, need: bytes, limit: Some(limit) }.into());
        }
        Ok(())
    }

    /// Adds to a level's counts.
    pub(crate) fn count(&self, level: u32, counts: LevelCounts) {
        *self.counts[level as usize].lock().expect("no worker panics holding it") += counts;
    }

    /// The counts of every level so far.
    pub(crate) fn counts(&self, level: u32) -> LevelCounts {
        *self.counts[level as usize].lock().expect("no worker panics holding it")
    }

    /// True if several workers share a region.
    fn shared(&self) -> bool {
        self.how.tuning.mapping() == Mapping::Mbr
    }

    fn fill(&self, region: &Region<K>, word: u64) -> Result<(), Error> {
        if self.how.kept.keep != Keep::Dense {
            return Ok(());
        }
        let fill = |slab: &Region<K>| {
            self.control.check()?;
            self.settled.fill(slab, word);
            Ok(())
        };
        let shared = self.shared();
        let most = if shared { PIECE } else { FILLED };
        if region.volume() <= most {
            return fill(region);
        }
        let slabs = Slabs::new(*region, most);
        match shared {
            true => parallel::try_each(slabs.len() as usize, &|i| fill(&slabs.get(i as u64))),
            false => (0..slabs.len()).try_for_each(|i| fill(&slabs.get(i))),
        }
    }

    /// Evaluates leaves: small ones together, large ones in slabs.
    fn evaluate_leaves(
        &self,
        terminal: &[Unsettled<K>],
        batch: &mut Compact,
        scratch: &mut Scratch<K>,
    ) -> Result<(), Error> {
        let most = if self.shared() { 4 * PIECE } else { PIECE };
        scratch.cells.clear();
        scratch.slabs.clear();
        batch.reserve()?;
        for leaf in terminal.iter().filter(|terminal| terminal.label.is_none()) {
            let slabs = Slabs::new(leaf.region, PIECE);
            for slab in (0..slabs.len()).map(|i| slabs.get(i)) {
                slab.extend_cells(&mut scratch.cells);
                scratch.slabs.push(slab);
                if scratch.cells.len() as u64 >= most {
                    self.evaluate_slabs(batch, scratch)?;
                }
            }
        }
        self.evaluate_slabs(batch, scratch)
    }

    /// Evaluates the cells of `scratch.slabs`, which are `scratch.cells`, and empties both.
    fn evaluate_slabs(&self, batch: &mut Compact, scratch: &mut Scratch<K>) -> Result<(), Error> {
        self.control.check()?;
        let Scratch { cells, labels, converted, slabs, .. } = scratch;
        if cells.is_empty() {
            return Ok(());
        }
        let room = labels.reset(cells.len());
        match self.shared() {
            false => evaluate(self.host, cells, room, self.control)?,
            true => self.evaluate_shared(cells, room)?,
        }
        // Leaves are on the deepest level.
        let work = self.host.labels.work();
        let label_sum = if work { labels.all().sum() } else { 0 };
        let counts = LevelCounts { evaluated_cells: cells.len() as u64, label_sum, ..LevelCounts::default() };
        self.count(self.plan.levels().len() as u32 - 1, counts);
        let stored = self.settled.storage().cells(labels.all(), converted);
        let mut rest = stored;
        for slab in slabs.iter() {
            let (mine, others) = rest.split_at(slab.volume() as usize);
            rest = others;
            self.settled.write(slab, mine);
        }
        batch.bricks(stored);
        cells.clear();
        slabs.clear();
        Ok(())
    }

    /// The labels of cells that many workers share.
    fn evaluate_shared(&self, cells: &[[u32; K]], room: WordsMut<'_>) -> Result<(), Error> {
        const EACH: usize = PIECE as usize;
        let some = |i: usize, words: WordsMut<'_>| {
            let cells = &cells[parallel::piece(cells.len(), EACH, i)];
            evaluate(self.host, cells, words, self.control)
        };
        match room {
            WordsMut::Narrow(words) => {
                parallel::try_pieces_mut(words, EACH, &|i, words| some(i, WordsMut::Narrow(words)))
            }
            WordsMut::Wide(words) => parallel::try_pieces_mut(words, EACH, &|i, words| some(i, WordsMut::Wide(words))),
        }
    }
}
