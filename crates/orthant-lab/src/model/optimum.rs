//! The best {g, r, B}, by trying all of a space.
//!
//! The cost depends on B only through τ, so that whole octaves of B tie, and it is flat around its minimum: ties and the
//! distance of the runner-up are part of the answer.

use serde::Serialize;

use super::{Costs, Density, Geometry, ModelError, Options, Processors, tau, time, work};
use orthant::registry;

registry! {
    /// What is to be least.
    pub enum Objective("objective") {
        /// W, Eq. (20).
        Work = "work",
        /// T_SBR, Eq. (23).
        Sbr = "sbr",
        /// T_MBR, Eq. (24).
        Mbr = "mbr",
    }
}

/// A domain, a density and a machine, for which g, r and B are sought.
#[derive(Debug, Clone, PartialEq)]
pub struct Problem {
    /// Cells per axis.
    pub n: Vec<u64>,
    /// P.
    pub density: Density,
    /// A and λ.
    pub costs: Costs,
    /// q and c; [`Objective::Work`] ignores them.
    pub processors: Processors,
    /// Variants of the equations.
    pub options: Options,
}

impl Problem {
    /// The cost of a scheme under an objective.
    ///
    /// # Errors
    /// As [`work::work`] and [`time::times`].
    pub fn cost(&self, objective: Objective, geometry: &Geometry) -> Result<f64, ModelError> {
        let Self { density, costs, processors, options, .. } = self;
        Ok(match objective {
            Objective::Work => work::work(geometry, density, *costs, *options)?.total,
            Objective::Sbr => time::times(geometry, density, *costs, *processors, *options)?.sbr,
            Objective::Mbr => time::times(geometry, density, *costs, *processors, *options)?.mbr,
        })
    }

    /// The cost of evaluating every cell under an objective.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if the domain is empty.
    pub fn exhaustive(&self, objective: Objective) -> Result<f64, ModelError> {
        let cells = Geometry::uniform(&self.n, 1, 2, 1)?.cells();
        Ok(match objective {
            Objective::Work => work::exhaustive(cells, self.costs),
            Objective::Sbr | Objective::Mbr => time::exhaustive(cells, self.costs, self.processors),
        })
    }
}

/// The schemes to try: every combination of these splits and stop sides, the same on every axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Space {
    /// Initial splits.
    pub g: Vec<u64>,
    /// Recurrent splits.
    pub r: Vec<u64>,
    /// Stop sides.
    pub b: Vec<u64>,
}

impl Default for Space {
    /// The paper's: 2, 4, .., 1024 for each.
    fn default() -> Self {
        let powers: Vec<_> = (1..=10).map(|power| 1 << power).collect();
        Self { g: powers.clone(), r: powers.clone(), b: powers }
    }
}

/// One scheme and its cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Candidate {
    /// g.
    pub g: u64,
    /// r.
    pub r: u64,
    /// B.
    #[serde(rename = "B")]
    pub b: u64,
    /// W, T_SBR or T_MBR.
    pub cost: f64,
}

/// The cheapest scheme of a space.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Optimum {
    /// The lexicographically smallest {g, r, B} of least cost.
    #[serde(flatten)]
    pub best: Candidate,
    /// W_E / W or T_Ex / T.
    pub gain: f64,
    /// How many schemes share the least cost.
    pub n_ties: usize,
    /// The schemes that do.
    pub ties: Vec<[u64; 3]>,
    /// Schemes with at least one level: g·B·r ≤ n.
    pub feasible: usize,
    /// The next higher cost over the least; none if there is no other.
    pub runner_up_ratio: Option<f64>,
    /// Schemes, ties included, that cost at most 5 % more than the least.
    pub within_5_percent: usize,
}

impl Optimum {
    /// True if dividing at all costs less than evaluating every cell.
    pub fn pays(&self) -> bool {
        self.gain > 1.0
    }
}

/// Costs closer than this are the same cost: sums of doubles in another order.
const SAME: f64 = 1e-12;

/// Every scheme of `space` with at least one level (g·B·r ≤ n on every axis) and its cost, in order of g, r, B.
///
/// # Errors
/// [`ModelError::Parameter`] if a g, r or B is out of range; as [`Problem::cost`].
pub fn landscape(problem: &Problem, objective: Objective, space: &Space) -> Result<Vec<Candidate>, ModelError> {
    let mut candidates = Vec::new();
    for &g in &space.g {
        for &r in &space.r {
            // The cost follows B only through tau.
            let mut known: Option<(i32, f64)> = None;
            for &b in &space.b {
                let geometry = Geometry::uniform(&problem.n, g, r, b)?;
                let tau = tau::tau(&geometry);
                if tau < 1 {
                    continue;
                }
                let cost = match known {
                    Some((of, cost)) if of == tau => cost,
                    _ => problem.cost(objective, &geometry)?,
                };
                known = Some((tau, cost));
                candidates.push(Candidate { g, r, b, cost });
            }
        }
    }
    Ok(candidates)
}

/// The scheme of least cost in a space; None if no scheme of the space has g·B·r ≤ n.
///
/// ```
/// use orthant_lab::model::{Costs, Density, Objective, Options, Problem, Processors, Space, optimum};
///
/// let (density, costs) = (Density::Constant(0.5), Costs::new(16.0, 10.0)?);
/// let (processors, options) = (Processors::new(64, 64)?, Options::default());
/// let problem = Problem { n: vec![1024, 1024], density, costs, processors, options };
/// let space = Space { g: vec![2, 4], r: vec![2, 4], b: vec![8, 16] };
/// let found = optimum(&problem, Objective::Work, &space)?.ok_or("no scheme fits")?;
/// // All eight schemes have g * r * B <= n, and dividing costs less than evaluating every cell.
/// assert_eq!(found.feasible, 8);
/// assert!(found.pays() && found.best.cost < problem.exhaustive(Objective::Work)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`landscape`].
pub fn optimum(problem: &Problem, objective: Objective, space: &Space) -> Result<Option<Optimum>, ModelError> {
    let mut candidates = landscape(problem, objective, space)?;
    candidates.sort_by_key(|scheme| [scheme.g, scheme.r, scheme.b]);
    candidates.dedup_by_key(|scheme| [scheme.g, scheme.r, scheme.b]);
    let least = candidates.iter().map(|scheme| scheme.cost).fold(f64::INFINITY, f64::min);
    let ties: Vec<_> = candidates.iter().filter(|scheme| scheme.cost <= least * (1.0 + SAME)).collect();
    let Some(&&best) = ties.first() else { return Ok(None) };
    let others = candidates.iter().map(|scheme| scheme.cost).filter(|&cost| cost > least * (1.0 + SAME));
    let runner_up = others.min_by(f64::total_cmp);
    Ok(Some(Optimum {
        best,
        gain: problem.exhaustive(objective)? / best.cost,
        n_ties: ties.len(),
        ties: ties.iter().map(|scheme| [scheme.g, scheme.r, scheme.b]).collect(),
        feasible: candidates.len(),
        runner_up_ratio: runner_up.map(|cost| cost / best.cost),
        within_5_percent: candidates.iter().filter(|scheme| scheme.cost <= least * 1.05).count(),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(k: usize, n: u64) -> Problem {
        Problem {
            n: vec![n; k],
            density: Density::Constant(0.7),
            costs: Costs::new(16.0, 100.0).unwrap(),
            processors: Processors::new(128, 64).unwrap(),
            options: Options::default(),
        }
    }

    #[test]
    fn flatness_and_ties() {
        let found = optimum(&problem(2, 1 << 10), Objective::Sbr, &Space::default()).unwrap().unwrap();
        assert_eq!(([found.best.g, found.best.r, found.best.b], found.n_ties, found.feasible), ([16, 2, 32], 21, 120));
        assert!(!found.pays() && found.within_5_percent >= 21);
        let found = optimum(&problem(2, 1 << 30), Objective::Mbr, &Space::default()).unwrap().unwrap();
        assert!(found.pays() && found.runner_up_ratio.unwrap() > 1.0 && found.gain <= 16.0);
    }

    #[test]
    fn a_domain_too_small_has_no_optimum() {
        assert_eq!(optimum(&problem(2, 4), Objective::Work, &Space::default()), Ok(None));
        let one = Space { g: vec![2, 2], r: vec![2], b: vec![1] };
        let found = optimum(&problem(2, 4), Objective::Work, &one).unwrap().unwrap();
        assert_eq!((found.feasible, found.n_ties, found.runner_up_ratio), (1, 1, None));
        let wrong = Space { g: vec![2], r: vec![1], b: vec![1] };
        assert!(optimum(&problem(2, 4), Objective::Work, &wrong).is_err());
    }

    #[test]
    fn mbr_is_at_least_as_good_at_its_optimum() {
        for n in [10, 12, 16, 20] {
            let cost =
                |objective| optimum(&problem(2, 1 << n), objective, &Space::default()).unwrap().unwrap().best.cost;
            assert!(cost(Objective::Mbr) <= cost(Objective::Sbr));
        }
    }
}
