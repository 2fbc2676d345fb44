//! Regions judged by the labels of a coarse lattice of cells, as the engine judges them by those of all cells.

use crate::domain::Domain;
use crate::plan::{ExploreRule, Level};
use crate::region::Region;
use crate::workload::{Payload, Verdict, Workload};

/// A region as the sample shows it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub(super) mixed: bool,
    /// The mean label of the cells that decide it, and of all.
    pub(super) border: f64,
    pub(super) inside: f64,
    /// The share of deciding cells whose label is not the first one's.
    pub(super) others: f64,
    /// True if no cell has to be looked at.
    pub(super) proven: bool,
}

/// Sampled cells per axis: n over a common step, if possible one that divides every n, so that sets of digits keep theirs.
pub(super) fn lattice<const K: usize>(size: [u32; K], budget: u64) -> [u32; K] {
    let cells = |step: u32| size.iter().map(|&n| f64::from((n / step).max(1))).product::<f64>();
    let longest = size.into_iter().max().unwrap_or(1);
    let mut step = 1;
    while cells(step) > budget as f64 && step < longest {
        step += (step / 16).max(1);
    }
    let divides = |step: &u32| size.iter().all(|n| n.is_multiple_of(*step));
    let step = (step..=step.saturating_mul(2)).find(divides).unwrap_or(step);
    size.map(|n| (n / step).max(1))
}

/// Judges the regions of a level by sampled labels.
pub(super) struct Judge<'a, const K: usize> {
    pub(super) labels: &'a [u32],
    pub(super) lattice: [u32; K],
    pub(super) rule: ExploreRule,
    pub(super) workload: &'a dyn Workload<K>,
    pub(super) domain: &'a Domain<K>,
}

impl<const K: usize> Judge<'_, K> {
    /// Every region of 2^i per axis, in storage order.
    pub(super) fn level(&self, i: usize) -> Vec<Node> {
        let grid = [1u32 << i; K];
        let (here, really) = (Level::of(grid, self.lattice), Level::of(grid, self.domain.size()));
        let mut coords = Vec::new();
        Region { corner: [0; K], extent: grid }.extend_cells(&mut coords);
        coords.into_iter().map(|p| self.node(&here.region(p), &really.region(p))).collect()
    }

    /// A region by its sampled cells, `here`, and by what the workload can prove of it, `really`.
    fn node(&self, here: &Region<K>, really: &Region<K>) -> Node {
        let mut all = Tally::default();
        self.rows(here, |row, _| all.add(row));
        let deciding = match self.rule {
            ExploreRule::Closed => Region {
                extent: std::array::from_fn(|j| {
                    here.extent[j] + u32::from(here.corner[j] + here.extent[j] < self.lattice[j])
                }),
                ..*here
            },
            _ => *here,
        };
        let mut seen = Tally::default();
        self.rows(&deciding, |row, face| match row {
            [first, .., last] if !face && self.rule != ExploreRule::Full => seen.add(&[*first, *last]),
            row => seen.add(row),
        });
        let verdict = match self.rule {
            ExploreRule::Full if !self.workload.carries_payload() => self.workload.classify(really, Payload::default()),
            _ => Verdict::Unknown,
        };
        let others = seen.others as f64 / seen.cells as f64;
        Node {
            mixed: match verdict {
                Verdict::Mixed => true,
                Verdict::Uniform(_) => false,
                Verdict::Unknown => seen.others > 0,
            },
            border: seen.sum as f64 / seen.cells as f64,
            inside: all.sum as f64 / all.cells as f64,
            others,
            proven: verdict != Verdict::Unknown,
        }
    }

    /// Every row of a region along axis 0, and whether it lies on a face of another axis.
    fn rows(&self, region: &Region<K>, mut visit: impl FnMut(&[u32], bool)) {
        let mut extent = region.extent;
        extent[0] = 1;
        let starts = Region { extent, ..*region };
        for offset in (0..starts.volume()).map(|i| starts.offset(i)) {
            let face = (1..K).any(|j| offset[j] == 0 || offset[j] + 1 == extent[j]);
            let index =
                (0..K).rev().fold(0, |at, j| at * self.lattice[j] as usize + (region.corner[j] + offset[j]) as usize);
            visit(&self.labels[index..index + region.extent[0] as usize], face);
        }
    }
}

/// Labels of some cells.
#[derive(Default)]
struct Tally {
    first: u32,
    cells: u64,
    others: u64,
    sum: u64,
}

impl Tally {
    fn add(&mut self, labels: &[u32]) {
        if self.cells == 0 {
            self.first = labels[0];
        }
        self.cells += labels.len() as u64;
        for &label in labels {
            self.others += u64::from(label != self.first);
            self.sum += u64::from(label);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_divide_where_they_can() {
        assert_eq!(lattice([4096, 4096], 1 << 14), [128, 128]);
        assert_eq!(lattice([6561, 6561], 1 << 14), [81, 81]);
        assert_eq!(lattice([7], 1 << 14), [7]);
        assert_eq!(lattice([1], 1), [1]);
        let odd = lattice([1009, 503], 1 << 10);
        assert!(odd.iter().product::<u32>() <= 1 << 10 && odd[0] > 30, "{odd:?}");
        assert_eq!(lattice([u32::MAX; 8], 1 << 10)[0] as f64, 2.0);
    }
}
