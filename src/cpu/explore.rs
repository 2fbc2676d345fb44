//! Exploring many regions at once.
//!
//! A single region offers too few cells for a vectorised field, and its early exit makes the next cells depend on the
//! last. So regions are explored in rounds: every undecided region of a batch contributes the next cells of its visit,
//! all of them are evaluated in one call, and regions that showed a second label drop out. What one region visits does
//! not depend on the others, so the counts are the same for every strategy, batch and thread count.

use crate::backend::{Control, Error, ExploreOrder, FIRST_ROUND, LAST_ROUND};
use crate::cell::WordVec;
use crate::cpu::host::Host;
use crate::cpu::patience::evaluate;
use crate::cpu::visit::{Visit, VisitOrders};
use crate::field::{Payload, Prove};
use crate::geometry::Region;
use crate::result::Storage;
use crate::rule::{RuleKind, Verdict, exact};

/// Regions that are proven in one call, at most.
const TOGETHER: usize = 256;

/// Cells evaluated in one call, at most, where regions are larger than that.
const BATCH: usize = 16 * 1024;

/// Memory that a worker reuses from batch to batch.
pub(crate) struct Scratch<const K: usize> {
    pub(crate) regions: Vec<Region<K>>,
    /// What exploring decided of each: the word of its label, None if it is mixed.
    pub(crate) found: Vec<Option<u64>>,
    pub(crate) cells: Vec<[u32; K]>,
    pub(crate) labels: WordVec,
    /// Room for cells that are not just cut labels.
    pub(crate) converted: WordVec,
    pub(crate) slabs: Vec<Region<K>>,
    pub(crate) terminal: Vec<Unsettled<K>>,
    open: Vec<Undecided>,
    verdicts: Vec<Verdict>,
    /// The cells that are asked about, and what their regions carry.
    asked: Vec<Region<K>>,
    payloads: Vec<Payload>,
}

impl<const K: usize> Scratch<K> {
    pub(crate) fn new(storage: Storage) -> Self {
        Self {
            regions: Vec::new(),
            found: Vec::new(),
            cells: Vec::new(),
            labels: WordVec::of(storage.label),
            converted: WordVec::of(storage.cell),
            slabs: Vec::new(),
            terminal: Vec::new(),
            open: Vec::new(),
            verdicts: Vec::new(),
            asked: Vec::new(),
            payloads: Vec::new(),
        }
    }
}

/// A terminal region that is to be settled.
#[derive(Clone, Copy)]
pub(crate) struct Unsettled<const K: usize> {
    pub(crate) level: u32,
    pub(crate) code: u64,
    pub(crate) region: Region<K>,
    /// What fills it; None: a leaf.
    pub(crate) label: Option<u64>,
}

/// A region that is not decided yet.
#[derive(Clone, Copy)]
struct Undecided {
    region: usize,
    visited: u64,
    round: u64,
    label: u64,
    mixed: bool,
}

/// What exploring cost.
#[derive(Default)]
pub(crate) struct Cost {
    /// Regions that were proven uniform.
    pub(crate) proven: u64,
    pub(crate) cells: u64,
    pub(crate) labels: u64,
}

/// How regions are decided.
pub(crate) struct Explorer<'a, const K: usize> {
    pub(crate) host: Host<'a, K>,
    pub(crate) orders: VisitOrders<K>,
    pub(crate) rule: RuleKind,
    pub(crate) size: [u32; K],
    /// True if the field is asked for proofs.
    pub(crate) proves: bool,
    pub(crate) order: ExploreOrder,
}

impl<const K: usize> Explorer<'_, K> {
    /// The box of the cells that decide a region.
    #[inline]
    fn deciding(&self, region: &Region<K>) -> Region<K> {
        self.rule.deciding(region, self.size).region
    }

    /// What a proof of those cells says of the region.
    #[inline]
    fn judged(&self, region: &Region<K>, verdict: Verdict) -> Verdict {
        self.rule.judged(&self.rule.deciding(region, self.size), verdict)
    }
}

/// Decides every region of `scratch.regions` and leaves what it found in `scratch.found`; `payload(i)` belongs to region i.
///
/// # Errors
/// [`Error::Interrupted`]; a single region can have any number of cells.
#[inline]
pub(crate) fn explore<const K: usize>(
    explorer: &Explorer<'_, K>,
    level: u32,
    payload: impl Fn(usize) -> Payload,
    scratch: &mut Scratch<K>,
    control: &Control,
) -> Result<Cost, Error> {
    let (host, mut cost) = (explorer.host, Cost::default());
    scratch.verdicts.clear();
    scratch.verdicts.resize(scratch.regions.len(), Verdict::Unknown);
    let prove = host.prove.filter(|_| explorer.proves);
    if let Some(prove) = prove {
        ask_proofs(explorer, prove, payload, scratch, control)?;
    }
    cost.proven = take_verdicts(explorer, prove.is_some(), scratch);
    while !scratch.open.is_empty() {
        let done = next_cells(explorer, level, scratch);
        let Scratch { cells, labels, .. } = scratch;
        evaluate(host, cells, labels.reset(cells.len()), control)?;
        cost.cells += cells.len() as u64;
        if host.labels.work() {
            cost.labels += labels.all().sum();
        }
        exact::make_keys(host.labels.kind(), labels.all_mut());
        decide(explorer, level, done, scratch);
    }
    Ok(cost)
}

/// Asks for proofs of all regions; leaves what they say in `scratch.verdicts`.
#[inline]
fn ask_proofs<const K: usize>(
    explorer: &Explorer<'_, K>,
    prove: &dyn Prove<K>,
    payload: impl Fn(usize) -> Payload,
    scratch: &mut Scratch<K>,
    control: &Control,
) -> Result<(), Error> {
    let Scratch { regions, verdicts, asked, payloads, .. } = scratch;
    let carries = explorer.host.carry.is_some();
    // One at a time if a single proof may be all that there is time for, or speaks of its own region.
    let each = if prove.siblings() > 1 && !carries { TOGETHER } else { 1 };
    for (piece, verdicts) in verdicts.chunks_mut(each).enumerate() {
        control.check()?;
        let first = piece * each;
        asked.clear();
        for region in &regions[first..first + verdicts.len()] {
            asked.push(explorer.deciding(region));
        }
        if carries && asked[0] != regions[first] {
            continue;
        }
        payloads.clear();
        for i in first..first + verdicts.len() {
            payloads.push(payload(i));
        }
        prove.prove_all(asked, payloads, verdicts);
    }
    Ok(())
}

/// Decides what verdicts decide, and leaves the other regions in `scratch.open`. Returns how many were proven uniform.
#[inline]
fn take_verdicts<const K: usize>(explorer: &Explorer<'_, K>, proves: bool, scratch: &mut Scratch<K>) -> u64 {
    let Scratch { regions, found, open, verdicts, .. } = scratch;
    let mut proven = 0;
    open.clear();
    found.clear();
    found.resize(regions.len(), None);
    for (i, &verdict) in verdicts.iter().enumerate() {
        match if proves { explorer.judged(&regions[i], verdict) } else { verdict } {
            Verdict::Uniform(label) => {
                found[i] = Some(exact::key(explorer.host.labels.kind(), label));
                proven += 1;
            }
            Verdict::Mixed => {}
            Verdict::Unknown => {
                open.push(Undecided { region: i, visited: 0, round: FIRST_ROUND, label: 0, mixed: false });
            }
        }
    }
    proven
}

/// Puts the next cells of undecided regions into `scratch.cells`. Returns how many regions have some: those after them wait for a later call,
/// since the round would grow beyond a batch.
#[inline]
fn next_cells<const K: usize>(explorer: &Explorer<'_, K>, level: u32, scratch: &mut Scratch<K>) -> usize {
    let Scratch { regions, cells, open, .. } = scratch;
    let mut done = 0;
    cells.clear();
    while done < open.len() && (done == 0 || cells.len() < BATCH) {
        let region = &open[done];
        let visit = explorer.orders.visit(level, &regions[region.region]);
        visit.extend(region.visited..round_end(region, &visit), cells);
        done += 1;
    }
    done
}

/// Compares the labels of the first `done` undecided regions, and takes those from `scratch.open` that they decide.
#[inline]
fn decide<const K: usize>(explorer: &Explorer<'_, K>, level: u32, done: usize, scratch: &mut Scratch<K>) {
    let Scratch { regions, found, labels, open, .. } = scratch;
    let whole = explorer.order == ExploreOrder::Paper;
    let (mut labels, mut kept) = (labels.all(), 0);
    for place in 0..done {
        let mut region = open[place];
        let visit = explorer.orders.visit(level, &regions[region.region]);
        let end = round_end(&region, &visit);
        let (mine, rest) = labels.split_at((end - region.visited) as usize);
        labels = rest;
        if region.visited == 0 {
            region.label = mine.get(0);
        }
        region.mixed = region.mixed || mine.differ_from(region.label);
        region.visited = end;
        region.round = (2 * region.round).min(LAST_ROUND);
        // The papers' order goes on after the first difference; its decision is the same.
        if end == visit.len() || (region.mixed && !whole) {
            found[region.region] = (!region.mixed).then_some(region.label);
        } else {
            open[kept] = region;
            kept += 1;
        }
    }
    open.copy_within(done.., kept);
    open.truncate(open.len() - done + kept);
}

#[inline]
fn round_end<const K: usize>(region: &Undecided, visit: &Visit<'_, K>) -> u64 {
    visit.len().min(region.visited + region.round)
}
