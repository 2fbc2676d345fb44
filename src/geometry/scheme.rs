//! {g, r, B} and the lattices that it leads to.
//!
//! Arithmetic is exact: the stop rule compares integers, bounds are floors of rationals, so that children tile their
//! parent for every n, g and r, divisible or not.

#[cfg(feature = "cuda")]
use crate::dimension::{MAX_DIM, widened};
use crate::geometry::region::{Region, saturated_wide};
use crate::per_axis;

/// {g, r, B}: how a domain is split.
///
/// ```
/// use orthant::prelude::*;
///
/// let scheme = Scheme { g: [4, 2], r: [2, 2], b: [4, 4] };
/// assert_eq!(scheme.children(), 4);
/// // The initial grid has regions of 16 cells a side. Their children have 8 cells and are the last:
/// // grandchildren would have 4, which is not longer than B.
/// let plan = Plan::builder([64, 32]).scheme(scheme).build()?;
/// let sides: Vec<u32> = plan.levels().iter().map(|level| level.region([0, 0]).extent[0]).collect();
/// assert_eq!(sides, [16, 8]);
/// # Ok::<(), orthant::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme<const K: usize> {
    /// Initial split per axis.
    pub g: [u32; K],
    /// Recurrent split per axis, at least 1 and not 1 on every axis. An axis with r_j = 1 is not split: all levels have
    /// its g_j regions.
    pub r: [u32; K],
    /// Stop side per axis in cells, at least 1: a region is divided only while its children stay longer than B_j on every
    /// axis that is split. Where r_j = 1 it stops nothing.
    pub b: [u32; K],
}

impl<const K: usize> Scheme<K> {
    /// The same g, r and B on every axis.
    pub fn uniform(g: u32, r: u32, b: u32) -> Self {
        Self { g: [g; K], r: [r; K], b: [b; K] }
    }

    /// R = ∏ r_j, children per region; u64::MAX where there would be more.
    pub fn children(&self) -> u64 {
        saturated(&self.r)
    }

    /// The same leaves with a finer initial grid: the first levels are left out until level 0 has at least `roots` regions, or is the
    /// last level. Several devices share the regions of level 0.
    ///
    /// ```
    /// use orthant::geometry::Scheme;
    ///
    /// let scheme = Scheme::<2>::uniform(4, 2, 16);
    /// assert_eq!(scheme.with_roots([1024, 1024], 500).g, [32, 32]);
    /// // The regions of the last level are of 32 x 32 cells before and after.
    /// assert_eq!(scheme.with_roots([1024, 1024], u128::MAX).g, [32, 32]);
    /// ```
    #[must_use]
    pub fn with_roots(self, size: [u32; K], roots: u128) -> Self {
        let levels = self.levels(size);
        let enough = levels.iter().find(|level| level.regions() >= roots).or(levels.last());
        Self { g: enough.map_or(self.g, |level| level.grid), ..self }
    }

    /// The levels that the stop rule leads to over `size` cells: level i has children while (n_j/M_j)/r_j > B_j on every
    /// axis with r_j > 1. Without such an axis there is one level.
    #[doc(hidden)]
    pub fn levels(&self, size: [u32; K]) -> Vec<Level<K>> {
        let Self { g: mut grid, r, b } = *self;
        let mut levels = Vec::new();
        loop {
            levels.push(Level { index: levels.len() as u32, grid, size });
            // B ≥ 1, so the grids stay below n where they grow, and fit 32 bits.
            if !divides(&size, &b, &grid, &r) || refine(&mut grid, &r).is_err() {
                return levels;
            }
        }
    }
}

/// The stop rule: true if regions of a lattice M are divided.
pub(super) fn divides(size: &[u32], b: &[u32], grid: &[u32], r: &[u32]) -> bool {
    let long = |j: usize| u128::from(size[j]) > u128::from(b[j]) * u128::from(grid[j]) * u128::from(r[j]);
    r.iter().any(|&r| r > 1) && (0..r.len()).all(|j| r[j] == 1 || long(j))
}

/// M_j of the next level, M_j·r_j.
///
/// # Errors
/// The axis that leaves 32 bits.
pub(crate) fn refine(grid: &mut [u32], r: &[u32]) -> Result<(), usize> {
    for axis in 0..grid.len() {
        grid[axis] = grid[axis].checked_mul(r[axis]).ok_or(axis)?;
    }
    Ok(())
}

/// The product of numbers per axis; the largest number where that is more.
pub(crate) fn saturated(axes: &[u32]) -> u64 {
    axes.iter().fold(1, |product: u64, &n| product.saturating_mul(n.into()))
}

/// Level i: the lattice of M_j = g_j·r_j^i regions per axis.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([10, 10]).scheme(Scheme::uniform(3, 2, 1)).build()?;
/// let level = plan.levels()[0];
/// assert_eq!((level.index, level.grid, level.regions()), (0, [3, 3], 9));
/// // Three regions share ten cells: the last one is longer.
/// let sides = [0, 1, 2].map(|x| level.region([x, 0]).extent[0]);
/// assert_eq!(sides, [3, 3, 4]);
/// assert_eq!(level.coords([9, 2]), [2, 0]);
/// # Ok::<(), orthant::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Level<const K: usize> {
    /// i; 0 is the initial grid.
    pub index: u32,
    /// M_j, regions per axis.
    pub grid: [u32; K],
    size: [u32; K],
}

impl<const K: usize> Level<K> {
    /// The lattice of one region, the whole domain: what Exhaustive reports.
    pub(crate) fn whole(size: [u32; K]) -> Self {
        Self { index: 0, grid: [1; K], size }
    }

    /// A lattice of `grid` regions over `size` cells, of no plan.
    #[doc(hidden)]
    pub fn of(grid: [u32; K], size: [u32; K]) -> Self {
        Self { index: 0, grid, size }
    }

    /// The lattice of two of its axes.
    pub(crate) fn plane(&self, axes: [usize; 2]) -> Level<2> {
        Level { index: self.index, grid: axes.map(|j| self.grid[j]), size: axes.map(|j| self.size[j]) }
    }

    /// The region at `coords` (p_j < M_j): cells ⌊p_j·n_j/M_j⌋ .. ⌊(p_j+1)·n_j/M_j⌋ on each axis.
    pub fn region(&self, coords: [u32; K]) -> Region<K> {
        // p ≤ M ≤ n < 2^32, so the products fit 64 bits.
        let mut region = Region { corner: coords, extent: coords };
        for j in 0..K {
            let (p, n, m) = (u64::from(coords[j]), u64::from(self.size[j]), u64::from(self.grid[j]));
            region.corner[j] = (p * n / m) as u32;
            region.extent[j] = ((p + 1) * n / m) as u32 - region.corner[j];
        }
        region
    }

    /// The coordinates of the region that `cell`, one of the domain, lies in: the inverse of [`region`](Self::region).
    #[inline]
    pub fn coords(&self, cell: [u32; K]) -> [u32; K] {
        // The greatest p with ⌊p·n/M⌋ ≤ c, that is with p·n < (c+1)·M. M ≤ n, so that no region is empty.
        let mut coords = cell;
        for j in 0..K {
            coords[j] = (((u64::from(cell[j]) + 1) * u64::from(self.grid[j]) - 1) / u64::from(self.size[j])) as u32;
        }
        coords
    }

    /// ∏ M_j, the regions of the full lattice.
    pub fn regions(&self) -> u128 {
        saturated_wide(&self.grid)
    }

    /// n_j/M_j where that is a whole number, else 0.
    pub(crate) fn whole_sides(&self) -> [u32; K] {
        let mut sides = [0; K];
        for j in 0..K {
            sides[j] = if self.size[j].is_multiple_of(self.grid[j]) { self.size[j] / self.grid[j] } else { 0 };
        }
        sides
    }

    /// The cells of a region, where all of them have as many.
    pub(crate) fn volume(&self) -> Option<u64> {
        let sides = self.whole_sides();
        (!sides.contains(&0)).then(|| saturated(&sides))
    }

    /// The same lattice in the most dimensions, of one region of one cell along axes beyond its own.
    #[cfg(feature = "cuda")]
    pub(crate) fn widened(&self) -> Level<MAX_DIM> {
        Level { index: self.index, grid: widened(self.grid, 1), size: widened(self.size, 1) }
    }

    /// Cells of the largest region.
    #[cfg(feature = "cuda")]
    pub(crate) fn most_cells(&self) -> u64 {
        self.most_cells_within([u32::MAX; K])
    }

    /// Cells of the largest region that lie in a box of such extents.
    #[cfg(feature = "cuda")]
    pub(crate) fn most_cells_within(&self, extent: [u32; K]) -> u64 {
        (0..K).map(|j| u64::from(self.size[j].div_ceil(self.grid[j]).min(extent[j]))).product()
    }

    /// The shorter of the two extents that regions of this level have on each axis: ⌊n_j/M_j⌋. The other is one more.
    pub fn least_extent(&self) -> [u32; K] {
        per_axis::each(|j| self.size[j] / self.grid[j])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sides(n: u32, g: u32, r: u32, b: u32) -> Vec<u32> {
        Scheme::<1>::uniform(g, r, b).levels([n]).iter().map(|level| n / level.grid[0]).collect()
    }

    #[test]
    fn stop_rule_is_the_papers() {
        // n = g·B·r^t: the last level has side r·B.
        assert_eq!(sides(1024, 2, 2, 1), [512, 256, 128, 64, 32, 16, 8, 4, 2]);
        assert_eq!(sides(4096, 32, 2, 4), [128, 64, 32, 16, 8]);
        assert_eq!(sides(65536, 64, 4, 16), [1024, 256, 64]);
        assert_eq!(sides(100, 3, 2, 200), [33]);
        // Exact rationals: 100/(3·2^4) = 2.08 > 2, although the integer side 2 is not.
        assert_eq!(sides(100, 3, 2, 2), [33, 16, 8, 4, 2]);
    }

    #[test]
    fn axes_that_are_not_split_stop_nothing() {
        let grids = |r, b| {
            let scheme = Scheme { g: [4, 4, 20], r, b };
            scheme.levels([64, 64, 20]).iter().map(|level| level.grid).collect::<Vec<_>>()
        };
        // 64/4/2 = 8 > 4, 64/8/2 = 4 is not: 20 steps of time neither stop this nor are divided.
        assert_eq!(grids([2, 2, 1], [4, 4, 1000]), [[4, 4, 20], [8, 8, 20]]);
        assert_eq!(grids([2, 1, 1], [1, 64, 20]).len(), 4);
        // The axis that first comes down to its B stops all that are split.
        assert_eq!(grids([2, 2, 1], [1, 7, 1]).len(), 2);
        assert_eq!(grids([2, 2, 2], [1, 1, 1]).len(), 1);
        assert_eq!(grids([1; 3], [1; 3]).len(), 1);
    }

    /// M per level by fractions of sides, divided one by one.
    fn grids_by_fractions(n: [u32; 3], Scheme { g, r, b }: Scheme<3>) -> Vec<[u32; 3]> {
        let mut grids = vec![g];
        // A side as cells over divisions.
        let mut sides: [(u64, u64); 3] = std::array::from_fn(|j| (n[j].into(), g[j].into()));
        loop {
            for j in 0..3 {
                sides[j].1 *= u64::from(r[j]);
            }
            let stops = |j: usize| r[j] != 1 && sides[j].0 <= u64::from(b[j]) * sides[j].1;
            if stops(0) || stops(1) || stops(2) {
                return grids;
            }
            grids.push(sides.map(|(_, divisions)| divisions as u32));
        }
    }

    proptest! {
        #[test]
        fn children_tile_their_parent(
            n in prop::array::uniform3(1u32..200), g in prop::array::uniform3(1u32..6),
            r in prop::array::uniform3(1u32..5), b in prop::array::uniform3(1u32..9),
        ) {
            prop_assume!(r != [1; 3]);
            let g: [u32; 3] = std::array::from_fn(|j| g[j].min(n[j]));
            let scheme = Scheme { g, r, b };
            let levels = scheme.levels(n);
            prop_assert_eq!(levels.iter().map(|level| level.grid).collect::<Vec<_>>(), grids_by_fractions(n, scheme));
            let whole = Region { corner: [0; 3], extent: n };
            let of = |level: &Level<3>| -> u64 {
                Region { corner: [0; 3], extent: level.grid }.cells().map(|p| {
                    let region = level.region(p);
                    assert!(region.extent.iter().all(|&s| s >= 1) && whole.contains(&region));
                    let last = region.cell(region.extent.map(|s| s - 1));
                    assert!([region.corner, last].iter().all(|&cell| level.coords(cell) == p));
                    region.volume()
                }).sum()
            };
            prop_assert_eq!(of(&levels[0]), whole.volume());
            for pair in levels.windows(2).take(2) {
                for p in (Region { corner: [0; 3], extent: pair[0].grid }).cells().take(64) {
                    let parent = pair[0].region(p);
                    let children = Region { corner: std::array::from_fn(|j| p[j] * r[j]), extent: r };
                    let mut volume = 0;
                    for child in children.cells().map(|c| pair[1].region(c)) {
                        prop_assert!(parent.contains(&child));
                        volume += child.volume();
                    }
                    prop_assert_eq!(volume, parent.volume());
                }
            }
        }
    }
}
