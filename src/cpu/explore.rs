//! Exploring many regions at once.
//!
//! A single region offers too few cells for a vectorised field, and its early exit makes the next cells depend on the
//! last. So regions are explored in rounds: every undecided region of a batch contributes the next cells of its visit,
//! all of them are evaluated in one call, and regions that showed a second label drop out. What one region visits does
//! not depend on the others, so the counts are the same for every strategy, batch and thread count.

use crate::how::ExploreOrder;
use crate::olt::{MIXED, Outcome};
use crate::plan::ExploreRule;
use crate::region::Region;
use crate::visit::Visit;
use crate::workload::{Payload, Verdict};

use super::Cpu;

/// Cells of a region's first round. Mixed regions usually need no second one.
pub(crate) const FIRST_ROUND: u64 = 16;

/// Most cells of a region in one round; rounds double up to it.
pub(crate) const LAST_ROUND: u64 = 256;

/// Cells evaluated in one call, at most, where regions are larger than that.
const BATCH: usize = 16 * 1024;

/// Memory that a worker reuses from batch to batch.
#[derive(Default)]
pub(crate) struct Scratch<const K: usize> {
    pub(crate) regions: Vec<Region<K>>,
    pub(crate) cells: Vec<[u32; K]>,
    pub(crate) labels: Vec<u32>,
    pub(crate) slabs: Vec<Region<K>>,
    open: Vec<Open>,
}

/// A region that is not decided yet.
struct Open {
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

/// Decides every region of `scratch.regions`; `payload(i)` belongs to region i.
pub(crate) fn explore<const K: usize>(
    cpu: &Cpu<'_, K>,
    level: u32,
    payload: impl Fn(usize) -> Payload,
    outcomes: &mut [Outcome],
    scratch: &mut Scratch<K>,
) -> Cost {
    let Scratch { regions, cells, labels, open, .. } = scratch;
    let mut cost = Cost::default();
    open.clear();
    for (i, region) in regions.iter().enumerate() {
        let verdict = match cpu.plan.explore() {
            ExploreRule::Full => cpu.workload.classify(region, payload(i)),
            _ => Verdict::Unknown,
        };
        match verdict {
            Verdict::Uniform(label) => outcomes[i] = label,
            Verdict::Mixed => outcomes[i] = MIXED,
            Verdict::Unknown => open.push(Open { region: i, visited: 0, round: FIRST_ROUND, label: MIXED }),
        }
    }
    let whole = cpu.how.order == ExploreOrder::Paper;
    while !open.is_empty() {
        // Regions from `done` on wait for a later call if the round would grow beyond a batch.
        let mut done = 0;
        cells.clear();
        while done < open.len() && (done == 0 || cells.len() < BATCH) {
            let region = &open[done];
            let visit = cpu.orders.visit(level, &regions[region.region]);
            visit.extend(region.visited..round_end(region, &visit), cells);
            done += 1;
        }
        labels.clear();
        labels.resize(cells.len(), 0);
        cpu.workload.evaluate(cells, labels);
        cost.cells += cells.len() as u64;
        if cpu.workload.labels_count_iterations() {
            cost.labels += labels.iter().map(|&label| u64::from(label)).sum::<u64>();
        }
        let mut labels = &labels[..];
        let mut index = 0;
        open.retain_mut(|region| {
            index += 1;
            if index > done {
                return true;
            }
            let visit = cpu.orders.visit(level, &regions[region.region]);
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
    cost
}

fn round_end<const K: usize>(region: &Open, visit: &Visit<'_, K>) -> u64 {
    visit.len().min(region.visited + region.round)
}
