//! The order of regions along the curve, whatever their levels.
//!
//! Under a hierarchical curve the descendants of a region are a run of codes of the deepest level. The first of them is the
//! region's *key*: by their keys terminal regions are in the order of the curve, and the one that holds a cell is the last whose
//! key is not above the cell's own. A flat curve, as the canonical one, has no such runs; a tree of such a plan lies along Morton's,
//! which serves every scheme and has as many codes.

use std::ops::{Deref, Range};

use crate::curve::CurveKind;
use crate::dimension::here;
use crate::geometry::{Domain, Region};
use crate::per_axis;
use crate::plan::Plan;
use crate::tree::axis::AxisRegions;
use crate::tree::curve_order::{CurveOrder, CurveRegions};

/// A plan whose curve is hierarchical, and the keys of its regions.
#[derive(Debug, Clone)]
pub(super) struct Along<const K: usize> {
    plan: Plan<K>,
    order: CurveOrder,
    /// Cells of a region, by its level; None where not all regions of a level have as many.
    volumes: Vec<Option<u64>>,
    /// The axes of the deepest level.
    axes: [AxisRegions; K],
}

/// Keys and codes do not depend on the number of axes: [`CurveOrder`] answers for them.
impl<const K: usize> Deref for Along<K> {
    type Target = CurveOrder;

    #[inline]
    fn deref(&self) -> &CurveOrder {
        &self.order
    }
}

impl<const K: usize> CurveRegions for Along<K> {
    fn order(&self) -> &CurveOrder {
        &self.order
    }

    fn grid(&self, level: u32) -> &[u32] {
        &self.plan.levels()[level as usize].grid
    }

    fn code_at(&self, level: u32, coords: &[u32]) -> u64 {
        self.plan.encoding().encode(level, per_axis::each(|j| coords[j]))
    }

    fn cells_of(&self, level: u32, code: u64) -> u128 {
        self.plan.region(level, code).cells_wide()
    }

    fn halved(&self, halvings: u32) -> Option<(CurveOrder, Vec<u32>)> {
        let (domain, plan) = (self.plan.domain(), &self.plan);
        let size = per_axis::each(|j| domain.size()[j] >> halvings);
        let domain = Domain::new(size, domain.window(), domain.sample()).ok()?;
        let plan = Plan::new(domain, *plan.scheme(), plan.curve(), plan.rule()).ok()?;
        Some((Self::new(&plan).order, size.to_vec()))
    }
}

impl<const K: usize> Along<K> {
    /// Along the curve of `plan`, or Morton's if that is flat.
    pub(super) fn new(plan: &Plan<K>) -> Self {
        here!(fn(&Plan<K>) -> Along<K> = Along::<K>::new_here)(plan)
    }

    fn new_here(plan: &Plan<K>) -> Self {
        let curve = if plan.curve().is_hierarchical() { plan.curve() } else { CurveKind::Morton };
        let plan = Plan::new(*plan.domain(), *plan.scheme(), curve, plan.rule())
            .expect("what was planned can be, and Morton order serves what the canonical order does");
        let (size, cells, scheme) = (plan.domain().size(), plan.domain().cells(), plan.scheme());
        let (mut codes, mut most_cells, mut volumes) = (Vec::new(), Vec::new(), Vec::new());
        for level in plan.levels() {
            let most = Region { corner: [0; K], extent: per_axis::each(|j| size[j].div_ceil(level.grid[j])) };
            codes.push(level.regions());
            most_cells.push(most.cells_wide());
            volumes.push(level.volume());
        }
        let order = CurveOrder::new(cells, &scheme.r, scheme.children(), codes, most_cells);
        let grid = plan.levels()[plan.levels().len() - 1].grid;
        let mut axes = [AxisRegions::new(1, 1); K];
        (0..K).for_each(|j| axes[j] = AxisRegions::new(size[j], grid[j]));
        Self { plan, order, volumes, axes }
    }

    pub(super) fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// The cells of a region of `level` whose key is `key`; the largest number where 64 bits do not hold it.
    #[inline]
    pub(super) fn volume(&self, level: u32, key: u64) -> u64 {
        let counted = || self.plan.region(level, self.code(level, key)).cells_wide().try_into().unwrap_or(u64::MAX);
        self.volumes[level as usize].unwrap_or_else(counted)
    }

    /// The cells of what lies below a run of keys.
    pub(super) fn cells(&self, keys: Range<u128>) -> u128 {
        self.order.sum(keys, &|level, code| self.cells_of(level, code))
    }

    /// The coordinates on the deepest level of the region that a cell of the domain lies in.
    #[inline]
    pub(super) fn coords(&self, cell: [u32; K]) -> [u32; K] {
        per_axis::each(|j| self.axes[j].region(cell[j]))
    }

    /// The number, on the deepest level, of the region of an axis that a cell of the axis lies in.
    #[inline]
    pub(super) fn region_on(&self, j: usize, cell: u32) -> u32 {
        self.axes[j].region(cell)
    }

    /// The key of the region at `coords` on the deepest level.
    #[inline]
    pub(super) fn key_at(&self, coords: [u32; K]) -> u64 {
        self.plan.encoding().encode(self.deepest(), coords)
    }

    /// The region at `coords` on the deepest level.
    #[inline]
    pub(super) fn region_at(&self, coords: [u32; K]) -> Region<K> {
        let corner = per_axis::each(|j| self.axes[j].first(coords[j]));
        Region { corner, extent: per_axis::each(|j| self.axes[j].first(coords[j] + 1) - corner[j]) }
    }

    /// The cells of a region's axis on the deepest level.
    pub(super) fn axis(&self, j: usize, number: u32) -> Range<u32> {
        self.axes[j].first(number)..self.axes[j].first(number + 1)
    }

    /// The coordinates on `level` of all regions that meet a box of the domain's cells, as a box.
    pub(super) fn meeting(&self, level: u32, window: &Region<K>) -> Region<K> {
        let level = &self.plan.levels()[level as usize];
        let first = level.coords(window.corner);
        let last = level.coords(per_axis::each(|j| window.corner[j] + (window.extent[j] - 1)));
        Region { corner: first, extent: per_axis::each(|j| last[j] - first[j] + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::rule::RuleKind;

    /// One split into 2^64 regions, and two into 2^32 each.
    #[test]
    fn keys_fill_their_bits() {
        for (r, deepest) in [(1 << 16, 1), (1 << 8, 2)] {
            let domain = Domain::new([1 << 17; 4], [[0.0, 1.0]; 4], Sample::Corner).unwrap();
            let scheme = Scheme { g: [1; 4], r: [r; 4], b: [1; 4] };
            let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
            let along = Along::new(&plan);
            assert_eq!((along.deepest(), along.last(0, 0), along.code(0, u64::MAX)), (deepest, u64::MAX, 0));
            assert_eq!((along.last(deepest, 7), along.code(deepest, u64::MAX)), (7, u64::MAX));
            assert_eq!((along.whole(), along.run(0, 0)), (0..1 << 64, 0..1 << 64));
            assert_eq!((along.cells(0..1 << 64), along.cells((1 << 64) - 3..1 << 64)), (1 << 68, 3 << 4));
        }
    }

    /// By the cells of the deepest level's regions.
    #[test]
    fn runs_of_keys_have_their_cells() {
        let domain = Domain::new([23, 17], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let plan = Plan::new(domain, Scheme { g: [3, 2], r: [2, 1], b: [1; 2] }, CurveKind::Morton, RuleKind::Full);
        let along = Along::new(&plan.unwrap());
        let cells: Vec<_> = (0..24).map(|code| along.plan().region(along.deepest(), code).cells_wide()).collect();
        assert_eq!(along.whole(), 0..24);
        for start in 0..24 {
            for end in start..=24 {
                assert_eq!(along.cells(start as u128..end as u128), cells[start..end].iter().sum());
            }
        }
    }
}
