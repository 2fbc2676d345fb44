//! Everything decided before the first cell is computed.
//!
//! A [`Plan`] says *what* is computed: the domain, the scheme {g, r, B}, the levels it leads to, how a region is found
//! uniform, and the curve that names regions. How fast it is computed is [`How`](crate::How) and must not change a
//! cell. The fields are private: a plan that exists is valid, and nothing after it can meet bad input.

use std::sync::Arc;

use crate::curve::{CurveError, CurveKind, Encoding};
use crate::dimension::here;
use crate::geometry::{Domain, DomainError, Level, Region, Scheme, boundary};
use crate::rule::RuleKind;

/// What is wrong with a plan: one number, and what would be allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PlanError {
    /// g_j = 0 or g_j > n_j.
    #[error("g {g} on axis {axis}: the initial split must be between 1 and the {n} cells of the axis")]
    InitialSplit {
        /// The axis.
        axis: usize,
        /// g on that axis.
        g: u32,
        /// n on that axis.
        n: u32,
    },
    /// r_j = 0.
    #[error("r 0 on axis {axis}: the recurrent split must be at least 1")]
    RecurrentSplit {
        /// The axis.
        axis: usize,
    },
    /// r_j = 1 on every axis.
    #[error("r 1 on every axis: the recurrent split must be at least 2 on some axis")]
    NothingSplit,
    /// B_j = 0.
    #[error("B 0 on axis {axis}: the stop side must be at least 1 cell")]
    StopSide {
        /// The axis.
        axis: usize,
    },
    /// The curve cannot name the regions.
    #[error(transparent)]
    Curve(#[from] CurveError),
    /// The size or the window that a builder was given.
    #[error(transparent)]
    Domain(#[from] DomainError),
}

/// A checked description of what is to be computed. Cheap to clone.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([640, 480]).curve(CurveKind::Hilbert).build()?;
/// assert_eq!(plan.levels()[0].grid, plan.scheme().g);
/// // What is wrong is named, with what is allowed.
/// let error = Plan::builder([640, 480]).b([0, 4]).build().unwrap_err();
/// assert_eq!(error.to_string(), "B 0 on axis 0: the stop side must be at least 1 cell");
/// # Ok::<(), orthant::PlanError>(())
/// ```
#[derive(Clone)]
pub struct Plan<const K: usize> {
    domain: Domain<K>,
    scheme: Scheme<K>,
    levels: Vec<Level<K>>,
    rule: RuleKind,
    curve: CurveKind,
    encoding: Arc<dyn Encoding<K>>,
}

impl<const K: usize> Plan<K> {
    /// Checks everything, and derives the levels. [`Plan::builder`] has defaults for what you leave out.
    ///
    /// # Errors
    /// [`PlanError`] names the field: g outside 1..=n, r or B of 0, r of 1 on every axis, a curve that cannot serve {g, r} or
    /// whose codes would exceed 64 bits.
    pub fn new(domain: Domain<K>, scheme: Scheme<K>, curve: CurveKind, rule: RuleKind) -> Result<Self, PlanError> {
        here!(fn(Domain<K>, Scheme<K>, CurveKind, RuleKind) -> Result<Plan<K>, PlanError> = Plan::<K>::new_here)(
            domain, scheme, curve, rule,
        )
    }

    fn new_here(domain: Domain<K>, scheme: Scheme<K>, curve: CurveKind, rule: RuleKind) -> Result<Self, PlanError> {
        let size = domain.size();
        for axis in 0..K {
            let (g, n) = (scheme.g[axis], size[axis]);
            if g == 0 || g > n {
                return Err(PlanError::InitialSplit { axis, g, n });
            }
            if scheme.r[axis] == 0 {
                return Err(PlanError::RecurrentSplit { axis });
            }
            if scheme.b[axis] == 0 {
                return Err(PlanError::StopSide { axis });
            }
        }
        if scheme.r == [1; K] {
            return Err(PlanError::NothingSplit);
        }
        let levels = scheme.levels(size);
        let deepest = levels.len() as u32 - 1;
        let encoding = curve.encoding(scheme.g, scheme.r, deepest)?.into();
        Ok(Self { domain, scheme, levels, rule, curve, encoding })
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
    #[inline]
    pub fn levels(&self) -> &[Level<K>] {
        &self.levels
    }

    /// True if mixed regions of `level` are leaves.
    #[inline]
    pub fn is_last(&self, level: u32) -> bool {
        level as usize + 1 == self.levels.len()
    }

    /// How a region is found uniform.
    pub fn rule(&self) -> RuleKind {
        self.rule
    }

    /// The curve that names regions.
    pub fn curve(&self) -> CurveKind {
        self.curve
    }

    /// The curve over this plan's levels.
    #[inline]
    pub fn encoding(&self) -> &dyn Encoding<K> {
        &*self.encoding
    }

    /// The region that `code` names on `level`.
    #[inline]
    pub fn region(&self, level: u32, code: u64) -> Region<K> {
        self.levels[level as usize].region(self.encoding.decode(level, code))
    }

    /// Bytes of one code of `level` in an OLT: 4 where the level's codes fit, else 8.
    pub fn code_bytes(&self, level: u32) -> u64 {
        if self.encoding.bits(level) <= 32 { 4 } else { 8 }
    }

    /// The number of regions expected on each level, if the boundary between labels has box dimension `d`. N_0 = G is
    /// the initial grid. Then N_{i+1} = R·P_i·N_i, where P_i is the share of the examined regions of level i that are
    /// mixed.
    ///
    /// With M regions on every axis the boundary meets M^d regions, so P_0 = g^(d−k) and P_i = r^(d−k). This is the
    /// self-similar density of the ASK paper, with the initial grid as one wide split.
    ///
    /// Regions that are longer on some axes are mixed more often, because the boundary crosses them somewhere along
    /// those axes. With M_1 ≤ .. ≤ M_k and M_0 = 1, a boundary in general position meets
    ///
    /// ```text
    /// A(M) = ∏_j (M_j / M_{j−1})^min(d, k−j+1)
    /// ```
    ///
    /// regions of the whole lattice. The k−j+1 finest axes show the boundary's projection along the others, and the dimension of
    /// the projection is min(d, k−j+1). Hence P_i = A(M_i) / (R·A(M_{i−1})). With the same r on every axis that is r^(d−k) again,
    /// whatever g.
    ///
    /// If only k' axes are split there are two cases:
    ///
    /// - They are the coarser axes, as in slices of the domain: P_i = R^((max(d, k−k')−k)/k').
    /// - They are the finer axes, as in a projection of it: P_i = R^((min(d, k')−k')/k'). That is 1 if the projection fills them,
    ///   as it does for d = k−1.
    ///
    /// An axis that is not split counts as M_j = g_j·n_j/(n_j − g_j), because a region is as long as from its first cell to its
    /// last. So regions of single cells are slices, however few there are.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// // A straight line through 64 x 64 cells meets about 4 of the 4 x 4 regions, and half of all children.
    /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 1)).build()?;
    /// assert_eq!(plan.expected_regions(1.0), [16.0, 16.0, 32.0, 64.0]);
    /// # Ok::<(), orthant::PlanError>(())
    /// ```
    pub fn expected_regions(&self, d: f64) -> Vec<f64> {
        let children = self.scheme.children() as f64;
        let mut regions = self.levels[0].regions() as f64;
        let each = |density| {
            let examined = regions;
            regions *= density * children;
            examined
        };
        self.expected_densities(d).into_iter().map(each).collect()
    }

    /// P_i of [`expected_regions`](Self::expected_regions).
    pub(crate) fn expected_densities(&self, d: f64) -> Vec<f64> {
        let (size, mut axes) = (self.domain.size(), Vec::new());
        for j in 0..K {
            axes.push([size[j].into(), self.scheme.g[j].into(), self.scheme.r[j].into()]);
        }
        boundary::Grid::new(axes.into_iter()).densities(d).take(self.levels.len()).collect()
    }
}

impl<const K: usize> std::fmt::Debug for Plan<K> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("domain", &self.domain)
            .field("scheme", &self.scheme)
            .field("levels", &self.levels.len())
            .field("rule", &self.rule)
            .field("curve", &self.curve)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::Sample;

    #[test]
    fn errors_name_the_number() {
        let domain = Domain::new([16, 8], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let plan = |g, r, b| Plan::new(domain, Scheme { g, r, b }, CurveKind::Canonical, RuleKind::Border).unwrap_err();
        assert_eq!(plan([16, 9], [2, 2], [1; 2]), PlanError::InitialSplit { axis: 1, g: 9, n: 8 });
        assert_eq!(plan([0, 1], [2, 2], [1; 2]), PlanError::InitialSplit { axis: 0, g: 0, n: 16 });
        assert_eq!(plan([1, 1], [2, 0], [1; 2]), PlanError::RecurrentSplit { axis: 1 });
        assert_eq!(plan([1, 1], [1, 1], [1; 2]), PlanError::NothingSplit);
        assert_eq!(plan([1, 1], [2, 2], [1, 0]), PlanError::StopSide { axis: 1 });
        // Not even where it stops nothing.
        assert_eq!(plan([1, 1], [2, 1], [1, 0]), PlanError::StopSide { axis: 1 });
    }
}
