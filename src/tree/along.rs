//! The order of regions along the curve, whatever their levels.
//!
//! Under a hierarchical curve the descendants of a region are a run of codes of the deepest level. The first of them is the
//! region's *key*: by their keys terminal regions are in the order of the curve, and the one that holds a cell is the last whose
//! key is not above the cell's own. The canonical curve has no such runs; a tree of a canonical plan lies along Morton's,
//! which serves every scheme that the canonical one does and has as many codes.

use std::ops::Range;

use crate::curve::CurveKind;
use crate::geometry::Region;
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::axis::AxisRegions;

/// A plan whose curve is hierarchical, and the keys of its regions.
#[derive(Debug, Clone)]
pub(super) struct Along<const K: usize> {
    plan: Plan<K>,
    /// Descendants on the deepest level that a region has, by its level; 0 where they are 2^64.
    descendants: Vec<u64>,
    /// R; the largest number where that is more.
    pub(super) children: u64,
    /// The axes of the deepest level.
    axes: [AxisRegions; K],
}

impl<const K: usize> Along<K> {
    /// Along the curve of `plan`, or Morton's if that is canonical; `rule` is how regions were found.
    pub(super) fn new(plan: &Plan<K>, rule: RuleKind) -> Self {
        let curve = match plan.curve() {
            CurveKind::Canonical => CurveKind::Morton,
            hierarchical => hierarchical,
        };
        let plan = Plan::new(*plan.domain(), *plan.scheme(), curve, rule)
            .expect("what was planned can be, and Morton order serves what the canonical order does");
        let children = plan.scheme().children();
        let deepest = plan.levels().len() as u32 - 1;
        // Not of `children`, which is less than 2^64 where R is just that.
        let family = plan.scheme().r.iter().fold(1, |family: u64, &r| family.wrapping_mul(r.into()));
        let descendants = (0..=deepest).map(|level| family.wrapping_pow(deepest - level)).collect();
        let (size, grid) = (plan.domain().size(), plan.levels()[deepest as usize].grid);
        let axes = std::array::from_fn(|j| AxisRegions::new(size[j], grid[j]));
        Self { plan, descendants, children, axes }
    }

    pub(super) fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// The deepest level.
    #[inline]
    pub(super) fn deepest(&self) -> u32 {
        self.descendants.len() as u32 - 1
    }

    /// The key of the region that `code` names on `level`.
    #[inline]
    pub(super) fn key(&self, level: u32, code: u64) -> u64 {
        // 2^64 descendants has the only region of its level.
        code.wrapping_mul(self.descendants[level as usize])
    }

    /// The code on `level` of the region that holds what has this key.
    #[inline]
    pub(super) fn code(&self, level: u32, key: u64) -> u64 {
        key.checked_div(self.descendants[level as usize]).unwrap_or(0)
    }

    /// The key of the last descendant of a region of `level` whose own key is `key`.
    #[inline]
    pub(super) fn last(&self, level: u32, key: u64) -> u64 {
        key.wrapping_add(self.descendants[level as usize].wrapping_sub(1))
    }

    /// The codes on `level` of what lies below the regions `codes` of level 0.
    pub(super) fn below(&self, codes: Range<u128>, level: u32) -> Range<u128> {
        // Of 128 bits, since the code after the last can be 2^64.
        let levels = self.plan.levels();
        let each = levels[level as usize].regions() / levels[0].regions();
        codes.start * each..codes.end * each
    }

    /// The coordinates on the deepest level of the region that a cell of the domain lies in.
    #[inline]
    pub(super) fn coords(&self, cell: [u32; K]) -> [u32; K] {
        std::array::from_fn(|j| self.axes[j].region(cell[j]))
    }

    /// The key of the region at `coords` on the deepest level.
    #[inline]
    pub(super) fn key_at(&self, coords: [u32; K]) -> u64 {
        self.plan.encoding().encode(self.deepest(), coords)
    }

    /// The region at `coords` on the deepest level.
    #[inline]
    pub(super) fn region_at(&self, coords: [u32; K]) -> Region<K> {
        let corner = std::array::from_fn(|j| self.axes[j].first(coords[j]));
        Region { corner, extent: std::array::from_fn(|j| self.axes[j].first(coords[j] + 1) - corner[j]) }
    }

    /// The coordinates on `level` of all regions that meet a box of the domain's cells, as a box.
    pub(super) fn meeting(&self, level: u32, window: &Region<K>) -> Region<K> {
        let level = &self.plan.levels()[level as usize];
        let first = level.coords(window.corner);
        let last = level.coords(std::array::from_fn(|j| window.corner[j] + (window.extent[j] - 1)));
        Region { corner: first, extent: std::array::from_fn(|j| last[j] - first[j] + 1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Domain, Sample, Scheme};

    /// One split into 2^64 regions, and two into 2^32 each.
    #[test]
    fn keys_fill_their_bits() {
        for (r, deepest) in [(1 << 16, 1), (1 << 8, 2)] {
            let domain = Domain::new([1 << 17; 4], [[0.0, 1.0]; 4], Sample::Corner).unwrap();
            let scheme = Scheme { g: [1; 4], r: [r; 4], b: [1; 4] };
            let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
            let along = Along::new(&plan, RuleKind::Full);
            assert_eq!((along.deepest(), along.last(0, 0), along.code(0, u64::MAX)), (deepest, u64::MAX, 0));
            assert_eq!((along.last(deepest, 7), along.code(deepest, u64::MAX)), (7, u64::MAX));
        }
    }
}
