//! Points: the plan of them as a person states it.

use crate::backend::Error;
use crate::choice::ChoiceError;
use crate::curve::CurveError;
use crate::dimension::here;
use crate::engine::request::{Computed, per_axis};
use crate::field::{FieldError, FieldKind};
use crate::geometry::{Domain, Sample, Scheme};
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
        let domain = self.points_domain(points)?;
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
        let axes = |name, values: &Option<Vec<u32>>| {
            values.as_deref().map(|values| per_axis::<K>(name, Some(values), 0)).transpose()
        };
        let (g, r, b) = (axes("g", &self.g)?, axes("r", &self.r)?, axes("B", &self.b)?);
        let scheme = Scheme::for_points(domain.size(), g, r, b);
        Ok(Plan::new(domain, scheme, self.curve, self.explore.unwrap_or(RuleKind::Full))?)
    }

    /// The domain of points.
    pub(super) fn points_domain<const K: usize>(&self, points: &PointsExtent) -> Result<Domain<K>, Error> {
        if points.axes() != K {
            let axes = points.axes();
            return Err(ChoiceError::new("dim", K, format!("the points have {axes} coordinates"))
                .with(&["size"])
                .into());
        }
        let size = per_axis("size", self.size.as_deref(), FieldKind::Points.defaults(K).size)?;
        if size.contains(&0) {
            return Err(ChoiceError::new("size", 0, "at least 1 cell per axis is needed").into());
        }
        let window = match &self.window {
            None => points.window(&size).map_err(FieldError::from)?,
            Some(window) => window.clone(),
        };
        let window: [[f64; 2]; K] = window.try_into().map_err(|window: Vec<_>| {
            let reason = format!("{} intervals are given; {K} are needed, one per axis", window.len());
            ChoiceError::new("domain", "", reason)
        })?;
        Ok(Domain::new(size, window, self.sample.unwrap_or(Sample::Centre))?)
    }

    /// That a domain has too many cells, and how many there can be.
    fn too_large<const K: usize>(&self, domain: &Domain<K>) -> Error {
        let fits = |n: u32| {
            let smaller = Domain::new([n; K], domain.window(), domain.sample());
            smaller.ok().and_then(|domain| self.points_plan_over(domain).ok()).is_some_and(|plan| has_names(&plan))
        };
        // A search finds one of few that could be the last: r, g and B make others possible here and there.
        let (mut low, mut high) = (1u32, u32::MAX);
        while low < high {
            let middle = low + (high - low).div_ceil(2);
            (low, high) = if fits(middle) { (middle, high) } else { (low, middle - 1) };
        }
        let reason = format!("{}; -n {low} is the most on every axis", PointsError::Bits);
        let size = crate::per_axis::text(&crate::per_axis::shortest(&domain.size()));
        ChoiceError::new("size", size, reason).with(&["g", "r", "B"]).into()
    }
}

/// True if the cells of a plan have names that points can be sorted by: a code and a place of 64 bits together.
fn has_names<const K: usize>(plan: &Plan<K>) -> bool {
    let (size, level) = (plan.domain().size(), plan.levels()[plan.levels().len() - 1]);
    let most = (0..K).fold(1u128, |most, j| most.saturating_mul(size[j].div_ceil(level.grid[j]).into()));
    let bits = |count: u128| 128 - (count - 1).leading_zeros();
    bits(level.regions()) + bits(most) <= 64 && plan.domain().cells() <= u64::MAX.into()
}
