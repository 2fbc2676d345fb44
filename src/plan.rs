//! Everything decided before the first cell is computed.
//!
//! A [`Plan`] says *what* is computed: the domain, the scheme {g, r, B}, the levels it leads to, how a region is found
//! uniform, and the curve that names regions. How fast it is computed is [`How`](crate::how::How) and must not change a cell. The fields are private: a plan that exists is valid, and nothing after it can meet bad input.
//!
//! Arithmetic is exact: the stop rule compares integers, bounds are floors of rationals, so that children tile their
//! parent for every n, g and r, divisible or not.

use std::sync::Arc;

use crate::curve::{CurveError, CurveKind, Encoding};
use crate::domain::Domain;
use crate::region::Region;
use crate::registry::registry;

/// What is wrong with a plan: one field, its value, and what would be allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// K out of range.
    #[error("--dim {k}: between 1 and {} dimensions are supported", crate::MAX_DIM)]
    Dimensions {
        /// The number asked for.
        k: usize,
    },
    /// n_j = 0.
    #[error("--size: axis {axis} has 0 cells; at least 1 is needed")]
    EmptyAxis {
        /// The axis.
        axis: usize,
    },
    /// lo ≥ hi.
    #[error("--domain: axis {axis} runs from {lo} to {hi}; the lower end must be below the upper")]
    WindowReversed {
        /// The axis.
        axis: usize,
        /// The lower end.
        lo: f64,
        /// The upper end.
        hi: f64,
    },
    /// NaN or infinite.
    #[error("--domain: axis {axis} runs from {lo} to {hi}; both ends and their distance must be finite numbers")]
    WindowNotFinite {
        /// The axis.
        axis: usize,
        /// The lower end.
        lo: f64,
        /// The upper end.
        hi: f64,
    },
    /// g_j = 0 or g_j > n_j.
    #[error("-g {g} on axis {axis}: the initial split must be between 1 and the {n} cells of the axis")]
    InitialSplit {
        /// The axis.
        axis: usize,
        /// g on that axis.
        g: u32,
        /// n on that axis.
        n: u32,
    },
    /// r_j < 2.
    #[error("-r {r} on axis {axis}: the recurrent split must be at least 2")]
    RecurrentSplit {
        /// The axis.
        axis: usize,
        /// r on that axis.
        r: u32,
    },
    /// B = 0.
    #[error("-B 0: the stop side must be at least 1 cell")]
    StopSide,
    /// The curve cannot name the regions.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// A rule that is not there yet.
    #[error("--explore {rule} is not available yet: use border, closed or full")]
    Rule {
        /// The rule.
        rule: ExploreRule,
    },
}

registry! {
    /// How a region is found uniform. Part of the plan, because it can change cells.
    pub enum ExploreRule("explore rule") {
        /// Every cell on the region's own faces has the same label: the papers' rule.
        Border = "border",
        /// The same on the region enlarged by the next layer of cells on its upper sides, clipped to the domain.
        Closed = "closed",
        /// Every cell: exact. Workloads with a region predicate answer without looking at cells.
        Full = "full",
        /// A proven bound: not available yet.
        Certified = "certified",
    }
}

/// {g, r, B}: how a domain is split.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scheme<const K: usize> {
    /// Initial split per axis.
    pub g: [u32; K],
    /// Recurrent split per axis, at least 2.
    pub r: [u32; K],
    /// Stop side in cells, at least 1: a region is divided only while its children stay longer than B on every axis.
    pub b: u32,
}

impl<const K: usize> Scheme<K> {
    /// The same g and r on every axis.
    pub fn uniform(g: u32, r: u32, b: u32) -> Self {
        Self { g: [g; K], r: [r; K], b }
    }

    /// R = ∏ r_j, children per region; u64::MAX where there would be more.
    pub fn children(&self) -> u64 {
        self.r.iter().fold(1, |children: u64, &r| children.saturating_mul(u64::from(r)))
    }

    /// The levels that the stop rule leads to over `size` cells: level i has children while (n_j/M_j)/r_j > B on every
    /// axis.
    pub(crate) fn levels(&self, size: [u32; K]) -> impl Iterator<Item = Level<K>> {
        let Self { g, r, b } = *self;
        std::iter::successors(Some(Level { index: 0, grid: g, size }), move |last| {
            let wide = |j: usize| u128::from(size[j]) > u128::from(b) * u128::from(last.grid[j]) * u128::from(r[j]);
            // B ≥ 1, so the grid stays below n and fits 32 bits.
            (0..K).all(wide).then(|| Level {
                index: last.index + 1,
                grid: std::array::from_fn(|j| last.grid[j] * r[j]),
                size,
            })
        })
    }
}

/// Level i: the lattice of M_j = g_j·r_j^i regions per axis.
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
    pub(crate) fn of(grid: [u32; K], size: [u32; K]) -> Self {
        Self { index: 0, grid, size }
    }

    /// The lattice of two of its axes.
    pub(crate) fn plane(&self, axes: [usize; 2]) -> Level<2> {
        Level { index: self.index, grid: axes.map(|j| self.grid[j]), size: axes.map(|j| self.size[j]) }
    }

    /// The region at `coords` (p_j < M_j): cells ⌊p_j·n_j/M_j⌋ .. ⌊(p_j+1)·n_j/M_j⌋ on each axis.
    pub fn region(&self, coords: [u32; K]) -> Region<K> {
        // p ≤ M ≤ n < 2^32, so the products fit 64 bits.
        let bound = |j: usize, p: u64| (p * u64::from(self.size[j]) / u64::from(self.grid[j])) as u32;
        let corner = std::array::from_fn(|j| bound(j, u64::from(coords[j])));
        Region { corner, extent: std::array::from_fn(|j| bound(j, u64::from(coords[j]) + 1) - corner[j]) }
    }

    /// ∏ M_j, the regions of the full lattice.
    pub fn regions(&self) -> u128 {
        self.grid.iter().fold(1u128, |regions, &m| regions.saturating_mul(u128::from(m)))
    }

    /// n_j/M_j where that is a whole number, else 0.
    #[cfg(feature = "cuda")]
    pub(crate) fn whole_sides(&self) -> [u32; K] {
        std::array::from_fn(|j| if self.size[j].is_multiple_of(self.grid[j]) { self.size[j] / self.grid[j] } else { 0 })
    }

    /// Cells of the largest region.
    #[cfg(feature = "cuda")]
    pub(crate) fn most_cells(&self) -> u64 {
        (0..K).map(|j| u64::from(self.size[j].div_ceil(self.grid[j]))).product()
    }

    /// The shorter of the two extents that regions of this level have on each axis: ⌊n_j/M_j⌋. The other is one more.
    pub fn least_extent(&self) -> [u32; K] {
        std::array::from_fn(|j| self.size[j] / self.grid[j])
    }
}

/// A checked description of what is to be computed. Cheap to clone.
#[derive(Clone)]
pub struct Plan<const K: usize> {
    domain: Domain<K>,
    scheme: Scheme<K>,
    levels: Vec<Level<K>>,
    explore: ExploreRule,
    curve: CurveKind,
    encoding: Arc<dyn Encoding<K>>,
}

impl<const K: usize> Plan<K> {
    /// Checks everything and derives the levels.
    ///
    /// # Errors
    /// [`PlanError`] names the field: g outside 1..=n, r < 2, B = 0, a curve that cannot serve {g, r} or whose codes
    /// would exceed 64 bits, a rule that is not available.
    pub fn new(
        domain: Domain<K>,
        scheme: Scheme<K>,
        curve: CurveKind,
        explore: ExploreRule,
    ) -> Result<Self, PlanError> {
        let size = domain.size();
        for axis in 0..K {
            let (g, r, n) = (scheme.g[axis], scheme.r[axis], size[axis]);
            if g == 0 || g > n {
                return Err(PlanError::InitialSplit { axis, g, n });
            }
            if r < 2 {
                return Err(PlanError::RecurrentSplit { axis, r });
            }
        }
        if scheme.b == 0 {
            return Err(PlanError::StopSide);
        }
        if explore == ExploreRule::Certified {
            return Err(PlanError::Rule { rule: explore });
        }
        let levels: Vec<_> = scheme.levels(size).collect();
        let deepest = levels.len() as u32 - 1;
        let encoding = curve.encoding(scheme.g, scheme.r, deepest)?.into();
        Ok(Self { domain, scheme, levels, explore, curve, encoding })
    }

    /// The cells and the window.
    pub fn domain(&self) -> &Domain<K> {
        &self.domain
    }

    /// {g, r, B}.
    pub fn scheme(&self) -> &Scheme<K> {
        &self.scheme
    }

    /// The levels, 0 first; at least one. Mixed regions of the last are leaves.
    pub fn levels(&self) -> &[Level<K>] {
        &self.levels
    }

    /// True if mixed regions of `level` are leaves.
    pub fn is_last(&self, level: u32) -> bool {
        level as usize + 1 == self.levels.len()
    }

    /// How a region is found uniform.
    pub fn explore(&self) -> ExploreRule {
        self.explore
    }

    /// The curve that names regions.
    pub fn curve(&self) -> CurveKind {
        self.curve
    }

    /// The curve over this plan's levels.
    pub fn encoding(&self) -> &dyn Encoding<K> {
        &*self.encoding
    }

    /// The region that `code` names on `level`.
    pub fn region(&self, level: u32, code: u64) -> Region<K> {
        self.levels[level as usize].region(self.encoding.decode(level, code))
    }

    /// Bytes of one code of `level` in an OLT: 4 where the level's codes fit, else 8.
    pub fn code_bytes(&self, level: u32) -> u64 {
        if self.encoding.bits(level) <= 32 { 4 } else { 8 }
    }

    /// The number of regions expected on each level if the boundary between labels has box dimension `d`:
    /// N_0 = G, then N_{i+1} = R·P_i·N_i with P_0 = G^((d−k)/k) and P_i = R^((d−k)/k).
    ///
    /// For an isotropic scheme that is the self-similar density P_i = r^(d−k) of the ASK paper's model with the initial
    /// grid treated as one wide split.
    pub fn expected_regions(&self, d: f64) -> Vec<f64> {
        let exponent = (d - K as f64) / K as f64;
        let children = self.scheme.children() as f64;
        let mut regions = self.levels[0].regions() as f64;
        let mut expected = Vec::with_capacity(self.levels.len());
        let mut density = regions.powf(exponent).min(1.0);
        for _ in &self.levels {
            expected.push(regions);
            regions *= density * children;
            density = children.powf(exponent).min(1.0);
        }
        expected
    }
}

impl<const K: usize> std::fmt::Debug for Plan<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("domain", &self.domain)
            .field("scheme", &self.scheme)
            .field("levels", &self.levels.len())
            .field("explore", &self.explore)
            .field("curve", &self.curve)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Sample;
    use proptest::prelude::*;

    fn sides(n: u32, g: u32, r: u32, b: u32) -> Vec<u32> {
        Scheme { g: [g], r: [r], b }.levels([n]).map(|level| n / level.grid[0]).collect()
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
    fn errors_name_the_field() {
        let domain = Domain::new([16, 8], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let plan =
            |g, r, b| Plan::new(domain, Scheme { g, r, b }, CurveKind::Canonical, ExploreRule::Border).unwrap_err();
        assert_eq!(plan([16, 9], [2, 2], 1), PlanError::InitialSplit { axis: 1, g: 9, n: 8 });
        assert_eq!(plan([0, 1], [2, 2], 1), PlanError::InitialSplit { axis: 0, g: 0, n: 16 });
        assert_eq!(plan([1, 1], [2, 1], 1), PlanError::RecurrentSplit { axis: 1, r: 1 });
        assert_eq!(plan([1, 1], [2, 2], 0), PlanError::StopSide);
        let window = |lo, hi| Domain::new([4], [[lo, hi]], Sample::Corner).unwrap_err();
        assert_eq!(window(1.0, 1.0), PlanError::WindowReversed { axis: 0, lo: 1.0, hi: 1.0 });
        assert!(matches!(window(f64::NAN, 1.0), PlanError::WindowNotFinite { axis: 0, .. }));
        assert!(matches!(window(-f64::MAX, f64::MAX), PlanError::WindowNotFinite { axis: 0, .. }));
        assert_eq!(Domain::new([4, 0], [[0.0, 1.0]; 2], Sample::Corner), Err(PlanError::EmptyAxis { axis: 1 }));
        assert_eq!(Domain::new([4; 9], [[0.0, 1.0]; 9], Sample::Corner), Err(PlanError::Dimensions { k: 9 }));
    }

    proptest! {
        #[test]
        fn children_tile_their_parent(
            n in prop::array::uniform3(1u32..200), g in prop::array::uniform3(1u32..6),
            r in prop::array::uniform3(2u32..5), b in 1u32..5,
        ) {
            let g: [u32; 3] = std::array::from_fn(|j| g[j].min(n[j]));
            let levels: Vec<_> = Scheme { g, r, b }.levels(n).collect();
            let whole = Region { corner: [0; 3], extent: n };
            let of = |level: &Level<3>| -> u64 {
                Region { corner: [0; 3], extent: level.grid }.cells().map(|p| {
                    let region = level.region(p);
                    assert!(region.extent.iter().all(|&s| s >= 1) && whole.contains(&region));
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
