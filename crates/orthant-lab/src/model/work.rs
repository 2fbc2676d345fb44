//! Work: what exploring, dividing, filling and evaluating cost in cells, Eqs. (1)-(21).
//!
//! Writing a cell costs 1, computing one costs A, so A is the ratio of the two and not a dwell.
//!
//! As in the paper the last level is evaluated without a query. The framework's engine explores it too, unless told
//! otherwise: when comparing with counts, add N_{tau−1}·Q_{tau−1} and charge only mixed regions with A.

use serde::Serialize;

use super::geometry::volume;
use super::{Counts, Density, Geometry, ModelError, Options, Ratio};

/// What an operation costs, in units of writing one cell.
///
/// ```
/// use orthant_lab::model::Costs;
///
/// // A cell costs 16 times as much as writing it, and a division 100 cells.
/// let costs = Costs::new(16.0, 100.0)?;
/// assert_eq!((costs.a(), costs.subdivide()), (16.0, 1600.0));
/// assert!(Costs::new(0.5, 100.0).is_err());
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Costs {
    a: f64,
    lambda: f64,
}

impl Costs {
    /// A, the work of computing a cell, and λ, with S = λ·A the work of dividing a region.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] unless 1 ≤ A < ∞ and 0 ≤ λ < ∞: computing a cell includes writing it.
    pub fn new(a: f64, lambda: f64) -> Result<Self, ModelError> {
        if !(a.is_finite() && a >= 1.0) {
            return Err(ModelError::parameter("A", a, "a finite ratio of at least 1"));
        }
        if !(lambda.is_finite() && lambda >= 0.0) {
            return Err(ModelError::parameter("lambda", lambda, "a finite number of at least 0"));
        }
        Ok(Self { a, lambda })
    }

    /// A.
    pub fn a(&self) -> f64 {
        self.a
    }

    /// S = λ·A.
    pub fn subdivide(&self) -> f64 {
        self.lambda * self.a
    }
}

/// The work of a subdivision.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Operations {
    /// The number of levels.
    pub tau: i32,
    /// K, the levels that are explored, Eq. (4).
    #[serde(rename = "K")]
    pub explored: f64,
    /// L, the last level, Eq. (14).
    #[serde(rename = "L")]
    pub last: f64,
    /// W = K + L, Eqs. (3), (16), (20).
    #[serde(rename = "W")]
    pub total: f64,
    /// Ω = W_E / W, Eq. (21).
    #[serde(rename = "Omega")]
    pub reduction: f64,
}

/// W_E = n^k·A, Eqs. (1)-(2).
pub fn exhaustive(cells: Ratio, costs: Costs) -> f64 {
    cells.to_f64() * costs.a
}

/// The work of a self-similar density, Eqs. (17)-(21) in k dimensions:
///
/// W = Σ_{i=0}^{τ−2} [ A·σ(s_i) + P_i·λ·A + (1−P_i)·s_i^k ]·G·R^i·∏_{j<i} P_j + n^k·A·∏_{j<τ−1} P_j.
///
/// # Errors
/// [`ModelError`] if the density or tau has no meaning here.
pub fn work(geometry: &Geometry, density: &Density, costs: Costs, options: Options) -> Result<Operations, ModelError> {
    let tau = options.tau_policy.levels(geometry)?;
    let chain = density.chain(geometry, tau)?;
    let level = |(i, p): (usize, &f64)| {
        let sides = geometry.sides(i as i32);
        let query = costs.a * options.surface.queried(&sides).to_f64();
        let fill = (1.0 - p) * volume(&sides).to_f64();
        (query + p * costs.subdivide() + fill) * geometry.regions(i as i32).to_f64() * chain.reach(i)
    };
    let explored: f64 = chain.probabilities().iter().enumerate().map(level).sum();
    let all = exhaustive(geometry.cells(), costs);
    let last = all * chain.reach_last();
    let total = explored + last;
    Ok(Operations { tau, explored, last, total, reduction: all / total })
}

/// What one region of a level costs under Eq. (12).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LevelCosts {
    /// P_i.
    pub p: f64,
    /// Q_i, a query.
    pub query: f64,
    /// S_i, a division.
    pub subdivide: f64,
    /// T_i, the terminal work of a uniform region.
    pub fill: f64,
}

/// The terms of the general equations.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct GeneralWork {
    /// K, Eq. (4).
    #[serde(rename = "K")]
    pub explored: f64,
    /// L, Eq. (14).
    #[serde(rename = "L")]
    pub last: f64,
    /// W, Eq. (16).
    #[serde(rename = "W")]
    pub total: f64,
    /// E|G_i| of the explored levels, Eq. (11).
    #[serde(rename = "N")]
    pub regions: Vec<f64>,
    /// E|G_{τ−1}|, regions of the last level.
    #[serde(rename = "N_last")]
    pub last_regions: f64,
    /// U_i = Q_i + P_i·S_i + (1−P_i)·T_i, Eq. (12).
    #[serde(rename = "U")]
    pub per_region: Vec<f64>,
}

/// The work of any density and any costs per level, Eqs. (3)-(16):
/// W_S = Σ_{i=0}^{τ−2} U_i·G·R^i·∏_{j<i} P_j + n^k·A·∏_{j<τ−1} P_j.
///
/// `levels` are the τ−1 explored ones, `cells` = n^k, `initial` = G, `children` = R.
pub fn general(cells: Ratio, initial: f64, children: f64, a: f64, levels: &[LevelCosts]) -> GeneralWork {
    let (mut reached, mut share) = (initial, 1.0);
    let (mut regions, mut per_region) = (Vec::new(), Vec::new());
    let mut explored = 0.0;
    for level in levels {
        let each = level.query + level.p * level.subdivide + (1.0 - level.p) * level.fill;
        explored += each * reached;
        regions.push(reached);
        per_region.push(each);
        share *= level.p;
        reached *= children * level.p;
    }
    let last = cells.to_f64() * a * share;
    GeneralWork { explored, last, total: explored + last, regions, last_regions: reached, per_region }
}

/// The work of counted regions:
/// W = Σ_{i<τ−1} [ N_i·A·σ_i + a_i·λ·A + (N_i−a_i)·s_i^k ] + N_{τ−1}·s_{τ−1}^k·A.
///
/// For a field of exactly constant P this is Eq. (20) to the last digit.
pub fn from_counts(geometry: &Geometry, counts: &Counts, costs: Costs, options: Options) -> f64 {
    let last = counts.levels() - 1;
    (0..=last)
        .map(|i| {
            let sides = geometry.sides(i as i32);
            let (regions, cells) = (counts.regions()[i], volume(&sides));
            match i == last {
                true => costs.a * (regions * cells).to_f64(),
                false => {
                    let query = costs.a * (regions * options.surface.queried(&sides)).to_f64();
                    let subdivide = costs.subdivide() * counts.active()[i].to_f64();
                    query + subdivide + (counts.uniform(i) * cells).to_f64()
                }
            }
        })
        .sum()
}

/// The side s* above which exploring a region costs less than evaluating it: the root of
/// (1−P)(A−1)·s^k − 2kA·s^{k−1} − P·λ·A = 0.
///
/// Infinite where exploring never pays: P = 1 or A = 1. The work-optimal depth is τ* = 1 + #{i: s_i > s*}.
///
/// ```
/// use orthant_lab::model::Costs;
/// use orthant_lab::model::work::stop_side;
///
/// // Where every region is mixed exploring never pays.
/// let costs = Costs::new(16.0, 0.0)?;
/// assert_eq!(stop_side(2, 1.0, costs)?, f64::INFINITY);
/// // 0.5 * 15 * s^2 = 4 * 16 * s at s = 64 / 7.5.
/// assert!((stop_side(2, 0.5, costs)? - 64.0 / 7.5).abs() < 1e-9);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
///
/// # Errors
/// [`ModelError::Parameter`] if P is not in 0..=1 or k not in 1..=8.
pub fn stop_side(k: usize, p: f64, costs: Costs) -> Result<f64, ModelError> {
    if !(1..=orthant::MAX_DIM).contains(&k) {
        return Err(ModelError::parameter("k", k, "between 1 and 8"));
    }
    Density::Constant(p).check(k)?;
    let gain = (1.0 - p) * (costs.a - 1.0);
    if gain <= 0.0 {
        return Ok(f64::INFINITY);
    }
    let dims = k as f64;
    // Divided by the gain: f(s) = s^(k−1)·(s − flat) − rest, with f ≥ 0 and convex from the start below on, so that
    // Newton comes down to the root monotonically and stops when rounding stops it.
    let (flat, rest) = (2.0 * dims * costs.a / gain, p * costs.subdivide() / gain);
    let mut side = flat + rest.powf(1.0 / dims);
    loop {
        let below = side.powi(k as i32 - 1);
        let slope = dims * below - (dims - 1.0) * flat * side.powi(k as i32 - 2);
        let next = side - (below * (side - flat) - rest) / slope;
        if next.is_nan() || next >= side {
            return Ok(side);
        }
        side = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Surface, TauPolicy};
    use proptest::prelude::*;

    fn costs(a: f64, lambda: f64) -> Costs {
        Costs::new(a, lambda).unwrap()
    }

    #[test]
    fn costs_have_a_range() {
        assert_eq!(Costs::new(0.5, 1.0).unwrap_err().to_string(), "A = 0.5: must be a finite ratio of at least 1");
        assert!(Costs::new(f64::INFINITY, 1.0).is_err() && Costs::new(f64::NAN, 1.0).is_err());
        assert!(Costs::new(2.0, -1.0).is_err() && Costs::new(2.0, f64::NAN).is_err());
    }

    #[test]
    fn stop_sides_of_the_three_dimensions() {
        let side = |k| stop_side(k, 0.7, costs(16.0, 100.0)).unwrap();
        for (k, expected) in [(2, 24.4), (3, 21.9), (4, 28.5)] {
            assert!((side(k) - expected).abs() < 0.05, "k = {k}: {}", side(k));
        }
        assert_eq!(stop_side(2, 1.0, costs(16.0, 100.0)), Ok(f64::INFINITY));
        assert_eq!(stop_side(2, 0.5, costs(1.0, 100.0)), Ok(f64::INFINITY));
        // k = 1 is linear: s = (2A + P·λ·A) / ((1−P)(A−1)).
        assert!((stop_side(1, 0.5, costs(3.0, 4.0)).unwrap() - 12.0).abs() < 1e-12);
    }

    #[test]
    fn the_stop_side_is_where_another_level_stops_paying() {
        let (p, costs) = (0.7, costs(16.0, 100.0));
        let limit = stop_side(2, p, costs).unwrap();
        let total = |b| {
            let geometry = Geometry::uniform(&[1 << 12; 2], 2, 2, b).unwrap();
            work(&geometry, &Density::Constant(p), costs, Options::default()).unwrap().total
        };
        for b in [2u64, 4, 8, 16, 32, 64] {
            // With stop side b the level of side 2b is evaluated; with 2b it is left out and 4b is.
            let last_explored = (4 * b) as f64;
            assert_eq!(total(b) < total(2 * b), last_explored > limit, "B = {b}");
        }
    }

    proptest! {
        #[test]
        fn area_is_conserved(p in prop::collection::vec(0.0..=1.0f64, 0..6), k in 1usize..5) {
            // Q = S = 0, T_i = the region's area, A = 1: n^k whatever P.
            let geometry = Geometry::uniform(&vec![1 << 8; k], 2, 2, 1).unwrap();
            let levels: Vec<_> = p.iter().enumerate().map(|(i, &p)| {
                LevelCosts { p, query: 0.0, subdivide: 0.0, fill: volume(&geometry.sides(i as i32)).to_f64() }
            }).collect();
            let (initial, children) = (geometry.initial_regions().to_f64(), geometry.children().to_f64());
            let total = general(geometry.cells(), initial, children, 1.0, &levels).total;
            prop_assert!((total / geometry.cells().to_f64() - 1.0).abs() < 1e-12);
        }

        #[test]
        fn general_and_self_similar_work_agree(
            p in 0.0..=1.0f64, a in 1.0..50.0f64, lambda in 0.0..1e3f64, n in 2u64..5000, g in 1u64..9, r in 2u64..5,
            b in 1u64..9, k in 1usize..4,
        ) {
            let geometry = Geometry::uniform(&vec![n; k], g, r, b).unwrap();
            let costs = costs(a, lambda);
            let one = work(&geometry, &Density::Constant(p), costs, Options::default()).unwrap();
            let levels: Vec<_> = (0..one.tau - 1).map(|i| {
                let sides = geometry.sides(i);
                let query = a * Surface::Faces.of(&sides).to_f64();
                LevelCosts { p, query, subdivide: lambda * a, fill: volume(&sides).to_f64() }
            }).collect();
            let (initial, children) = (geometry.initial_regions().to_f64(), geometry.children().to_f64());
            let other = general(geometry.cells(), initial, children, a, &levels);
            prop_assert!((one.total / other.total - 1.0).abs() < 1e-12);
            // Ω ≤ A/(1+(A−1)·P^(τ−1)) ≤ A for τ ≥ 2; Ω = 1 for τ = 1.
            let bound = if one.tau > 1 { a / (1.0 + (a - 1.0) * p.powi(one.tau - 1)) } else { 1.0 };
            prop_assert!(one.reduction <= bound * (1.0 + 1e-12), "{} > {bound}", one.reduction);
        }

        #[test]
        fn policies_differ_only_below_one_level(n in 1u64..300, g in 1u64..20, b in 1u64..20) {
            let geometry = Geometry::uniform(&[n, n], g, 2, b).unwrap();
            let by = |tau_policy| {
                work(&geometry, &Density::Constant(0.7), costs(16.0, 1.0), Options { tau_policy, ..Options::default() })
            };
            match by(TauPolicy::Strict) {
                Ok(strict) => {
                    prop_assert_eq!(by(TauPolicy::Clamp), Ok(strict));
                    prop_assert_eq!(by(TauPolicy::Raw), Ok(strict));
                }
                Err(ModelError::Infeasible { tau }) => {
                    prop_assert_eq!(by(TauPolicy::Raw).unwrap().tau, tau);
                    prop_assert_eq!(by(TauPolicy::Clamp).unwrap().reduction, 1.0);
                }
                Err(other) => prop_assert!(false, "{}", other),
            }
        }
    }
}
