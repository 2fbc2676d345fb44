//! Exploring many regions at once.
//!
//! A single region offers too few cells for a vectorised field, and its early exit makes the next cells depend on the
//! last. So regions are explored in rounds: every undecided region of a batch contributes the next cells of its visit,
//! all of them are evaluated in one call, and regions that showed a second label drop out. What one region visits does
//! not depend on the others, so the counts are the same for every strategy, batch and thread count.

use crate::backend::{Control, Error, ExploreOrder, FIRST_ROUND, LAST_ROUND, MIXED, Outcome};
use crate::cpu::patience::evaluate;
use crate::cpu::visit::{Visit, VisitOrders};
use crate::field::{Field, Payload, Verdict};
use crate::geometry::Region;

/// Cells evaluated in one call, at most, where regions are larger than that.
const BATCH: usize = 16 * 1024;

/// Memory that a worker reuses from batch to batch.
#[derive(Default)]
pub(crate) struct Scratch<const K: usize> {
    pub(crate) regions: Vec<Region<K>>,
    pub(crate) cells: Vec<[u32; K]>,
    pub(crate) labels: Vec<u32>,
    pub(crate) slabs: Vec<Region<K>>,
    open: Vec<Undecided>,
}

/// A region that is not decided yet.
struct Undecided {
    region: usize,
    visited: u64,
    round: u64,
    label: u32,
}

/// What exploring cost.
#[derive(Default)]
pub(crate) struct Cost {
    pub(crate) cells: u64,
    pub(crate) labels: u64,
}

/// How regions are decided.
pub(crate) struct Explorer<'a, const K: usize> {
    pub(crate) field: &'a dyn Field<K>,
    pub(crate) orders: VisitOrders<K>,
    /// True if a field's proof of a region decides it.
    pub(crate) proves: bool,
    pub(crate) order: ExploreOrder,
}

/// Decides every region of `scratch.regions`; `payload(i)` belongs to region i.
///
/// # Errors
/// [`Error::Interrupted`]; a single region can have any number of cells.
pub(crate) fn explore<const K: usize>(
    explorer: &Explorer<'_, K>,
    level: u32,
    payload: impl Fn(usize) -> Payload,
    outcomes: &mut [Outcome],
    scratch: &mut Scratch<K>,
    control: &Control,
) -> Result<Cost, Error> {
    let Scratch { regions, cells, labels, open, .. } = scratch;
    let mut cost = Cost::default();
    open.clear();
    for (i, region) in regions.iter().enumerate() {
        let verdict = match explorer.proves {
            true => {
                control.check()?;
                explorer.field.prove(region, payload(i))
            }
            false => Verdict::Unknown,
        };
        match verdict {
            Verdict::Uniform(label) => outcomes[i] = label,
            Verdict::Mixed => outcomes[i] = MIXED,
            Verdict::Unknown => open.push(Undecided { region: i, visited: 0, round: FIRST_ROUND, label: MIXED }),
        }
    }
    let whole = explorer.order == ExploreOrder::Paper;
    while !open.is_empty() {
        // Regions from `done` on wait for a later call if the round would grow beyond a batch.
        let mut done = 0;
        cells.clear();
        while done < open.len() && (done == 0 || cells.len() < BATCH) {
            let region = &open[done];
            let visit = explorer.orders.visit(level, &regions[region.region]);
            visit.extend(region.visited..round_end(region, &visit), cells);
            done += 1;
        }
        labels.clear();
        labels.resize(cells.len(), 0);
        evaluate(explorer.field, cells, labels, control)?;
        cost.cells += cells.len() as u64;
        if explorer.field.labels_count_iterations() {
            cost.labels += labels.iter().map(|&label| u64::from(label)).sum::<u64>();
        }
        let mut labels = &labels[..];
        let mut index = 0;
        open.retain_mut(|region| {
            index += 1;
            if index > done {
                return true;
            }
            let visit = explorer.orders.visit(level, &regions[region.region]);
            let end = round_end(region, &visit);
            let (mine, rest) = labels.split_at((end - region.visited) as usize);
            labels = rest;
            if region.visited == 0 {
                region.label = mine[0];
            }
            if region.label != MIXED && mine.iter().any(|&label| label != region.label) {
                region.label = MIXED;
            }
            region.visited = end;
            region.round = (2 * region.round).min(LAST_ROUND);
            // The papers' order goes on after the first difference; its decision is the same.
            if end == visit.len() || (region.label == MIXED && !whole) {
                outcomes[region.region] = region.label;
                return false;
            }
            true
        });
    }
    Ok(cost)
}

fn round_end<const K: usize>(region: &Undecided, visit: &Visit<'_, K>) -> u64 {
    visit.len().min(region.visited + region.round)
}
