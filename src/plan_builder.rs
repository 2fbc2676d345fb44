//! A plan of which only the size has to be said.

use crate::curve::CurveKind;
use crate::geometry::{Domain, Sample, Scheme};
use crate::plan::{Plan, PlanError};
use crate::rule::RuleKind;

/// Collects what a [`Plan`] is made of. [`Plan::builder`] starts one, and [`build`](Self::build) checks everything at once.
///
/// | left out | its value |
/// |---|---|
/// | [`window`](Self::window) | the cells themselves: `[0, n]` on each axis |
/// | [`sample`](Self::sample) | [`Sample::default_for`] K dimensions, as on the command line |
/// | [`g`](Self::g), [`r`](Self::r), [`b`](Self::b) | those of [`Scheme::for_array`]: leaves of about 4096 cells |
/// | [`curve`](Self::curve) | [`CurveKind::Morton`] |
/// | [`rule`](Self::rule) | [`RuleKind::Border`]: the border of a region decides |
///
/// ```
/// use orthant::prelude::*;
///
/// let builder = Plan::builder([64, 64, 32]).scheme(Scheme::uniform(4, 2, 2));
/// let plan = builder.build()?;
/// // What was left out: cells are their own coordinates, sampled in their centres.
/// assert_eq!(plan.domain().window(), [[0.0, 64.0], [0.0, 64.0], [0.0, 32.0]]);
/// assert_eq!(plan.domain().sample(), Sample::Centre);
/// // One builder makes several plans.
/// let exact = builder.rule(RuleKind::Full).build()?;
/// assert_eq!((plan.rule(), exact.rule()), (RuleKind::Border, RuleKind::Full));
/// # Ok::<(), orthant::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use = "a plan comes of `build`"]
pub struct PlanBuilder<const K: usize> {
    size: [u32; K],
    window: Option<[[f64; 2]; K]>,
    sample: Sample,
    g: Option<[u32; K]>,
    r: Option<[u32; K]>,
    b: Option<[u32; K]>,
    curve: CurveKind,
    rule: RuleKind,
}

impl<const K: usize> Plan<K> {
    /// Starts a plan of `size` cells per axis, axis 0 first. Everything else has a default: see [`PlanBuilder`].
    pub fn builder(size: [u32; K]) -> PlanBuilder<K> {
        let (curve, rule) = (CurveKind::Morton, RuleKind::Border);
        PlanBuilder { size, window: None, sample: Sample::default_for(K), g: None, r: None, b: None, curve, rule }
    }
}

impl<const K: usize> PlanBuilder<K> {
    /// The interval `[lo, hi]` that each axis covers, in the field's coordinates.
    pub fn window(self, window: [[f64; 2]; K]) -> Self {
        Self { window: Some(window), ..self }
    }

    /// Where the sample of a cell lies.
    pub fn sample(self, sample: Sample) -> Self {
        Self { sample, ..self }
    }

    /// All of {g, r, B}.
    pub fn scheme(self, scheme: Scheme<K>) -> Self {
        self.g(scheme.g).r(scheme.r).b(scheme.b)
    }

    /// The initial split: regions of level 0 per axis.
    pub fn g(self, g: [u32; K]) -> Self {
        Self { g: Some(g), ..self }
    }

    /// The recurrent split: children per region and axis.
    pub fn r(self, r: [u32; K]) -> Self {
        Self { r: Some(r), ..self }
    }

    /// The stop side B in cells: a region is divided only while its children are longer.
    pub fn b(self, b: [u32; K]) -> Self {
        Self { b: Some(b), ..self }
    }

    /// The curve that names regions.
    pub fn curve(self, curve: CurveKind) -> Self {
        Self { curve, ..self }
    }

    /// How a region is found uniform.
    pub fn rule(self, rule: RuleKind) -> Self {
        Self { rule, ..self }
    }

    /// Checks everything, and makes the plan.
    ///
    /// # Errors
    /// [`PlanError`] names the number that is wrong and what would be allowed.
    pub fn build(self) -> Result<Plan<K>, PlanError> {
        let Self { size, window, sample, g, r, b, curve, rule } = self;
        let window = window.unwrap_or(size.map(|n| [0.0, f64::from(n)]));
        let domain = Domain::new(size, window, sample)?;
        Plan::new(domain, Scheme::for_array(size, g, r, b, [false; K]), curve, rule)
    }
}
