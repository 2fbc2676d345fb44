//! Points: the plan of them as a person states it.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::curve::CurveError;
use crate::dimension::here;
use crate::engine::chosen_splits::ChosenSplits;
use crate::engine::domain_axes::{DomainAxes, window_of};
use crate::engine::request::Computed;
use crate::field::{FieldError, FieldKind};
use crate::geometry::{Domain, Sample, Scheme};
use crate::per_axis::{shortest, text};
use crate::plan::{Plan, PlanError};
use crate::points::{PointsError, PointsExtent};
use crate::rule::RuleKind;

impl Computed {
    /// The plan of points: rule `full` unless another was chosen, and where nothing else was chosen [`Scheme::for_points`], the window of
    /// the [points](crate::points::Points::window) and the centres of cells as samples.
    ///
    /// ```
    /// use orthant::Computed;
    /// use orthant::points::Points;
    /// use orthant::prelude::*;
    ///
    /// let sphere = Points::sphere(1.0, 1000);
    /// let mut chosen = Computed::default();
    /// chosen.set("size", "512")?;
    /// let plan = chosen.points_plan::<3>(sphere.extent())?;
    /// assert_eq!((plan.domain().size(), plan.rule()), ([512; 3], RuleKind::Full));
    /// // Cells of so large a domain have no names of 64 bits. The message says how many there can be.
    /// chosen.set("size", "2^22")?;
    /// assert!(chosen.points_plan::<3>(sphere.extent()).unwrap_err().to_string().contains("-n 2621440"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`] names the choice, its value and what is allowed.
    pub fn points_plan<const K: usize>(&self, points: &PointsExtent) -> Result<Plan<K>, Error> {
        here!(fn(&Computed, &PointsExtent) -> Result<Plan<K>, Error> = Computed::points_plan_here)(self, points)
    }

    fn points_plan_here<const K: usize>(&self, points: &PointsExtent) -> Result<Plan<K>, Error> {
        let domain = self.points_domain(points, K)?.domain()?;
        let plan = self.points_plan_over(domain);
        match plan {
            Ok(plan) if has_names(&plan) => Ok(plan),
            Ok(_)
            | Err(Error::Plan(PlanError::Curve(CurveError::CodeOverflow { .. } | CurveError::CoordOverflow { .. }))) => {
                Err(self.too_large(&domain))
            }
            Err(error) => Err(error),
        }
    }

    fn points_plan_over<const K: usize>(&self, domain: Domain<K>) -> Result<Plan<K>, Error> {
        let ChosenSplits { g, r, b } = self.chosen_splits()?;
        let scheme = Scheme::for_points(domain.size(), g, r, b);
        Ok(Plan::new(domain, scheme, self.curve, self.explore.unwrap_or(RuleKind::Full))?)
    }

    /// The domain of points in `k` axes.
    pub(super) fn points_domain(&self, points: &PointsExtent, k: usize) -> Result<DomainAxes, Error> {
        if points.axes() != k {
            let axes = points.axes();
            return Err(ChoiceError::new("dim", k, format!("the points have {axes} coordinates"))
                .with(&["size"])
                .into());
        }
        let size = self.cells(self.size.as_deref(), FieldKind::Points.defaults(k).size, k)?;
        let window = match self.chosen_window(k)? {
            None => window_of(&points.window(&size[..k]).map_err(FieldError::from)?),
            Some(window) => window,
        };
        Ok(DomainAxes { size, window, sample: self.sample.unwrap_or(Sample::Centre) })
    }

    /// That a domain has too many cells, and how many there can be.
    fn too_large<const K: usize>(&self, domain: &Domain<K>) -> Error {
        let fits = |n: u32| {
            let smaller = Domain::new([n; K], domain.window(), domain.sample());
            smaller.ok().and_then(|domain| self.points_plan_over(domain).ok()).is_some_and(|plan| has_names(&plan))
        };
        too_large(&domain.size(), &fits)
    }
}

/// That a domain of `size` cells has too many, and how many fit on every axis.
fn too_large(size: &[u32], fits: &dyn Fn(u32) -> bool) -> Error {
    // A search finds one of few that could be the last: r, g and B make others possible here and there.
    let (mut low, mut high) = (1u32, u32::MAX);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        (low, high) = if fits(middle) { (middle, high) } else { (low, middle - 1) };
    }
    let reason = format!("{}; -n {low} is the most on every axis", PointsError::Bits);
    ChoiceError::new("size", text(&shortest(size)), reason).with(&["g", "r", "B"]).into()
}

/// True if the cells of a plan have names that points can be sorted by: a code and a place of 64 bits together.
fn has_names<const K: usize>(plan: &Plan<K>) -> bool {
    let level = plan.levels()[plan.levels().len() - 1];
    let names = bits(level.regions()) + bits(most_cells(&plan.domain().size(), &level.grid));
    names <= 64 && plan.domain().cells() <= u64::MAX.into()
}

/// The most cells of a region of a lattice.
fn most_cells(size: &[u32], grid: &[u32]) -> u128 {
    size.iter().zip(grid).fold(1, |most: u128, (n, m)| most.saturating_mul(n.div_ceil(*m).into()))
}

/// Bits that tell so many things apart.
fn bits(count: u128) -> u32 {
    128 - (count - 1).leading_zeros()
}
