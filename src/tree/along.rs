//! The order of regions along the curve, whatever their levels.
//!
//! Under a hierarchical curve the descendants of a region are a run of codes of the deepest level. The first of them is the
//! region's *key*: by their keys terminal regions are in the order of the curve, and the one that holds a cell is the last whose
//! key is not above the cell's own. A flat curve, as the canonical one, has no such runs; a tree of such a plan lies along Morton's,
//! which serves every scheme and has as many codes.

use std::ops::Range;

use crate::curve::CurveKind;
use crate::dimension::here;
use crate::geometry::{Level, Region};
use crate::per_axis;
use crate::plan::Plan;
use crate::result::Terminal;
use crate::tree::axis::AxisRegions;
use crate::tree::error::TreeError;

/// A plan whose curve is hierarchical, and the keys of its regions.
#[derive(Debug, Clone)]
pub(super) struct Along<const K: usize> {
    plan: Plan<K>,
    /// Descendants on the deepest level that a region has, by its level; 0 where they are 2^64.
    descendants: Vec<u64>,
    /// Cells of a region, by its level; None where not all regions of a level have as many.
    volumes: Vec<Option<u64>>,
    /// R; the largest number where that is more.
    pub(super) children: u64,
    /// The axes of the deepest level.
    axes: [AxisRegions; K],
}

/// Sorts by keys of so many bits.
fn sort_by_key(terminals: &mut [Terminal], descendants: &[u64], bits: u32) {
    Terminal::sort_by(terminals, bits, &|region| region.code.wrapping_mul(descendants[region.level() as usize]));
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
        let children = plan.scheme().children();
        let deepest = plan.levels().len() as u32 - 1;
        // Not of `children`, which is less than 2^64 where R is just that.
        let family = plan.scheme().r.iter().fold(1, |family: u64, &r| family.wrapping_mul(r.into()));
        let descendants = (0..=deepest).map(|level| family.wrapping_pow(deepest - level)).collect();
        let volumes = plan.levels().iter().map(Level::volume).collect();
        let (size, grid) = (plan.domain().size(), plan.levels()[deepest as usize].grid);
        let axes = std::array::from_fn(|j| AxisRegions::new(size[j], grid[j]));
        Self { plan, descendants, volumes, children, axes }
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

    /// Sorts regions by their keys.
    pub(super) fn sort(&self, terminals: &mut [Terminal]) {
        let last = self.codes(self.deepest()) - 1;
        sort_by_key(terminals, &self.descendants, u128::BITS - last.leading_zeros());
    }

    /// The code on `level` of the region that holds what has this key.
    #[inline]
    pub(super) fn code(&self, level: u32, key: u64) -> u64 {
        key.checked_div(self.descendants[level as usize]).unwrap_or(0)
    }

    /// The cells of a region of `level` whose key is `key`; the largest number where 64 bits do not hold it.
    #[inline]
    pub(super) fn volume(&self, level: u32, key: u64) -> u64 {
        let counted = || self.plan.region(level, self.code(level, key)).cells_wide().try_into().unwrap_or(u64::MAX);
        self.volumes[level as usize].unwrap_or_else(counted)
    }

    /// The key of the last descendant of a region of `level` whose own key is `key`.
    #[inline]
    pub(super) fn last(&self, level: u32, key: u64) -> u64 {
        key.wrapping_add(self.descendants[level as usize].wrapping_sub(1))
    }

    /// The number of codes on `level`. Of 128 bits, as all ends of runs are: the code after the last can be 2^64.
    pub(super) fn codes(&self, level: u32) -> u128 {
        self.plan.levels()[level as usize].regions()
    }

    /// All keys.
    pub(super) fn whole(&self) -> Range<u128> {
        0..self.codes(self.deepest())
    }

    /// The most cells of a region of `level`.
    pub(super) fn most_cells(&self, level: u32) -> u128 {
        let (size, grid) = (self.plan.domain().size(), self.plan.levels()[level as usize].grid);
        Region { corner: [0; K], extent: per_axis::each(|j| size[j].div_ceil(grid[j])) }.cells_wide()
    }

    /// The first level from `above` on whose regions have at most so many cells, or the deepest.
    pub(super) fn level_of(&self, above: u32, cells: u128) -> u32 {
        (above..self.deepest()).find(|&level| self.most_cells(level) <= cells).unwrap_or(self.deepest())
    }

    /// The codes on `level` of what lies below the regions `codes` of a level above it, or of the same.
    pub(super) fn below(&self, above: u32, codes: Range<u128>, level: u32) -> Range<u128> {
        let each = self.codes(level) / self.codes(above);
        codes.start * each..codes.end * each
    }

    /// The keys of what lies below a run of a level's codes.
    ///
    /// # Errors
    /// [`TreeError::Level`], [`TreeError::Code`] or [`TreeError::Codes`] if there is no such run.
    pub(super) fn keys(&self, level: u32, codes: Range<u128>) -> Result<Range<u128>, TreeError> {
        let deepest = self.deepest();
        if level > deepest {
            return Err(TreeError::Level { level, deepest });
        }
        if codes.is_empty() {
            return Err(TreeError::Codes { start: codes.start, end: codes.end });
        }
        let last = (self.codes(level) - 1) as u64;
        if codes.end - 1 > last.into() {
            return Err(TreeError::Code { level, code: codes.end - 1, last });
        }
        Ok(self.below(level, codes, deepest))
    }

    /// The keys of what a region has below it.
    pub(super) fn run(&self, level: u32, key: u64) -> Range<u128> {
        key.into()..u128::from(self.last(level, key)) + 1
    }

    /// The cells of what lies below a run of keys.
    pub(super) fn cells(&self, keys: Range<u128>) -> u128 {
        let (mut next, mut cells) = (keys.start, 0u128);
        while next < keys.end {
            // The largest region that begins there and does not reach beyond.
            let fits = |&level: &u32| {
                let code = self.code(level, next as u64);
                let run = self.run(level, self.key(level, code));
                run.start == next && run.end <= keys.end
            };
            let level = (0..self.deepest()).find(fits).unwrap_or(self.deepest());
            let region = self.plan.region(level, self.code(level, next as u64));
            cells = cells.saturating_add(region.cells_wide());
            next = self.run(level, next as u64).end;
        }
        cells
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
