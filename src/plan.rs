//! Everything decided before the first cell is computed.
//!
//! A [`Plan`] says *what* is computed: the domain, the scheme {g, r, B}, the levels it leads to, how a region is found
//! uniform, and the curve that names regions. How fast it is computed is [`Tuning`](crate::tuning::Tuning) and must not
//! change a cell. The fields are private: a plan that exists is valid, and nothing after it can meet bad input.
//!
//! Arithmetic is exact: the stop rule compares integers, bounds are floors of rationals, so that children tile their
//! parent for every n, g and r, divisible or not.

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
