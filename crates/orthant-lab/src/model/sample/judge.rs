//! Regions judged by the labels of a coarse lattice of cells, as the engine judges them by those of all cells.
//!
//! Level i has 2^i regions per axis, in storage order: their places are bits, so that ancestors are found by shifts.

use orthant::field::{Field, Payload, Prove};
use orthant::geometry::{Domain, Level, Region, SampleGrid};
use orthant::per_axis;
use orthant::rule::{RuleKind, Verdict};

/// A region as the sample shows it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Node {
    pub(super) mixed: bool,
    /// True if no cell has to be looked at.
    pub(super) proven: bool,
    /// The mean label of the cells that decide it.
    pub(super) border: f64,
    /// The share of deciding cells whose label is not the first one's.
    pub(super) others: f64,
    /// The sum of all labels, and of how many cells.
    sum: u64,
    cells: u64,
}

impl Node {
    /// The mean label of all its cells.
    pub(super) fn inside(&self) -> f64 {
        self.sum as f64 / self.cells as f64
    }
}

/// The place on level `to` of the ancestor of the region at `place` on level `from`.
pub(super) fn ancestor<const K: usize>(place: usize, from: usize, to: usize) -> usize {
    (0..K).rev().fold(0, |above, j| above << to | (place >> (from * j) & ((1 << from) - 1)) >> (from - to))
}

/// Judges the regions of levels by sampled labels.
pub(super) struct Judge<'a, const K: usize> {
    pub(super) labels: &'a [u64],
    pub(super) grid: SampleGrid<K>,
    pub(super) rule: RuleKind,
    /// True if the field is asked for proofs.
    pub(super) proves: bool,
    pub(super) field: &'a dyn Field<K>,
    pub(super) domain: &'a Domain<K>,
}

impl<const K: usize> Judge<'_, K> {
    /// The regions of the levels 0..=`finest`.
    pub(super) fn levels(&self, finest: usize) -> Vec<Vec<Node>> {
        let prover = self.field.prover().filter(|_| self.proves && self.field.carrier().is_none());
        // Without room for a survey proofs take longer, and say the same.
        let survey = prover.and_then(|prover| prover.survey(&self.domain.region()).ok().flatten());
        let prover = survey.as_deref().or(prover);
        let mut levels: Vec<Vec<Node>> = (0..=finest).map(|i| self.level(i, prover)).collect();
        // Regions are tiled by those below them: only the finest level's have to be added up cell by cell.
        let bounds = self.bounds(finest);
        for (place, node) in levels[finest].iter_mut().enumerate() {
            let mut all = Tally::default();
            self.rows(&region(&bounds, place, finest), |row, _| all.add(row));
            (node.sum, node.cells) = (all.sum, all.cells);
        }
        for i in (0..finest).rev() {
            let (above, below) = levels.split_at_mut(i + 1);
            for (place, node) in below[0].iter().enumerate() {
                let parent = &mut above[i][ancestor::<K>(place, i + 1, i)];
                (parent.sum, parent.cells) = (parent.sum.wrapping_add(node.sum), parent.cells + node.cells);
            }
        }
        levels
    }

    /// Every region of 2^i per axis, but for what is inside.
    fn level(&self, i: usize, prover: Option<&dyn Prove<K>>) -> Vec<Node> {
        let bounds = self.bounds(i);
        let really = Level::of([1 << i; K], self.domain.size());
        let prove = |place: usize| {
            let coords = per_axis::each(|j| (place >> (i * j) & ((1 << i) - 1)) as u32);
            prover.map_or(Verdict::Unknown, |prover| {
                let prove = |deciding: &Region<K>| prover.prove(deciding, Payload::default());
                self.rule.verdict(&really.region(coords), self.domain.size(), prove)
            })
        };
        let judge = |place| self.node(region(&bounds, place, i), prove(place));
        (0..1 << (i * K)).map(judge).collect()
    }

    /// Where the regions of 2^i per axis begin on the lattice, and where the last one ends.
    fn bounds(&self, i: usize) -> [Vec<u32>; K] {
        // As regions of a plan.
        self.grid.points().map(|m| (0..=1u64 << i).map(|p| ((p * u64::from(m)) >> i) as u32).collect())
    }

    /// A region by its sampled cells, and by what the field can prove of it.
    fn node(&self, region: Region<K>, verdict: Verdict) -> Node {
        let deciding = self.rule.deciding(&region, self.grid.points());
        let mut seen = Tally::default();
        self.rows(&deciding.region, |row, face| match row {
            [first, .., last] if !face && deciding.faces => seen.add(&[*first, *last]),
            row => seen.add(row),
        });
        Node {
            mixed: match verdict {
                Verdict::Mixed => true,
                Verdict::Uniform(_) => false,
                Verdict::Unknown => seen.others > 0,
            },
            proven: verdict != Verdict::Unknown,
            border: seen.sum as f64 / seen.cells as f64,
            others: seen.others as f64 / seen.cells as f64,
            ..Node::default()
        }
    }

    /// Every row of a region along axis 0, and whether it lies on a face of another axis.
    fn rows(&self, region: &Region<K>, mut visit: impl FnMut(&[u64], bool)) {
        let points = self.grid.points().map(|m| m as usize);
        let extent = region.extent.map(|side| side as usize);
        let mut start = (0..K).rev().fold(0, |at, j| at * points[j] + region.corner[j] as usize);
        let mut offset = [0; K];
        loop {
            let face = (1..K).any(|j| offset[j] == 0 || offset[j] + 1 == extent[j]);
            visit(&self.labels[start..start + extent[0]], face);
            // The next row: on, or back to the first on this axis and on along the next.
            let (mut axis, mut stride) = (1, points[0]);
            loop {
                if axis >= K {
                    return;
                }
                offset[axis] += 1;
                start += stride;
                if offset[axis] < extent[axis] {
                    break;
                }
                start -= extent[axis] * stride;
                offset[axis] = 0;
                stride *= points[axis];
                axis += 1;
            }
        }
    }
}

/// The region at `place` of 2^i per axis with these bounds.
fn region<const K: usize>(bounds: &[Vec<u32>; K], place: usize, i: usize) -> Region<K> {
    let bound = |j: usize, more: usize| bounds[j][(place >> (i * j) & ((1 << i) - 1)) + more];
    Region { corner: per_axis::each(|j| bound(j, 0)), extent: per_axis::each(|j| bound(j, 1) - bound(j, 0)) }
}

/// Labels of some cells.
#[derive(Default)]
struct Tally {
    first: u64,
    cells: u64,
    others: u64,
    sum: u64,
}

impl Tally {
    fn add(&mut self, labels: &[u64]) {
        if self.cells == 0 {
            self.first = labels[0];
        }
        let first = self.first;
        self.cells += labels.len() as u64;
        self.others += labels.iter().map(|&label| u64::from(label != first)).sum::<u64>();
        // Words that are no counts may add up to anything: nobody asks for their sum.
        self.sum = labels.iter().fold(self.sum, |sum, &label| sum.wrapping_add(label));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use orthant::field::CellField;
    use orthant::geometry::Sample;

    #[test]
    fn places_are_bits() {
        // (5, 2, 7) of 8 per axis lies in (2, 1, 3) of 4 and in (1, 0, 1) of 2.
        let place = 5 | 2 << 3 | 7 << 6;
        assert_eq!(ancestor::<3>(place, 3, 2), 2 | 1 << 2 | 3 << 4);
        assert_eq!((ancestor::<3>(place, 3, 1), ancestor::<3>(place, 3, 0)), (1 | 1 << 2, 0));
    }

    #[test]
    fn regions_are_judged_by_their_cells() {
        // 11 x 7 points that are the cells; a level of 4 x 4 whose regions differ in size.
        let size = [11, 7];
        let domain = Domain::new(size, [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let label = |[x, y]: [u32; 2]| u32::from(x * x + y * y < 50) * (x + 2);
        let field = CellField::new(100, label);
        let grid = SampleGrid::new(size, 77);
        let labels: Vec<u64> = grid.cells_from(0, 77).into_iter().map(|cell| label(cell).into()).collect();
        for &rule in RuleKind::ALL {
            let judge = Judge { labels: &labels, grid, rule, proves: rule.proves(), field: &field, domain: &domain };
            for (i, nodes) in judge.levels(2).iter().enumerate() {
                let level = Level::of([1 << i; 2], size);
                for (place, node) in nodes.iter().enumerate() {
                    let region = level.region([place as u32 % (1 << i), place as u32 >> i]);
                    let all: Vec<u32> = region.cells().map(label).collect();
                    assert_eq!(node.inside(), f64::from(all.iter().sum::<u32>()) / all.len() as f64);
                    let set = rule.deciding(&region, size);
                    let deciding: Vec<u32> = (0..set.count()).map(|i| label(set.region.cell(set.offset(i)))).collect();
                    let first = label(region.corner);
                    let others = deciding.iter().filter(|&&label| label != first).count();
                    assert_eq!((node.mixed, node.others), (others > 0, others as f64 / deciding.len() as f64));
                    assert_eq!(node.border, f64::from(deciding.iter().sum::<u32>()) / deciding.len() as f64);
                }
            }
        }
    }
}
