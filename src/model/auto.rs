//! The scheme to run with: the best of {2, 4, .., 1024}³ by what a coarse sample says of its levels.
//!
//! With constants that were fitted to this device the predicted time decides. Without them the paper's model does, with the
//! box dimension that the sample shows in place of P, and A and λ as in the paper's figures: it knows no overheads, so that
//! its order of schemes is a guess and no time is predicted.

use super::observed::{Machine, Terms};
use super::sample::Coarse;
use super::{Costs, Density, Geometry, ModelError, Objective, Options, Problem};
use crate::how::{How, ParallelScheme};
use crate::plan::Plan;

/// The g, r and B that are tried.
pub const TRIED: [u32; 10] = [2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// A and λ of the paper's figures.
const COSTS: (f64, f64) = (16.0, 100.0);

/// Sampled cells: this share of the domain's, within limits.
const SHARE: u128 = 1024;
const LEAST_CELLS: u128 = 1 << 10;
const MOST_CELLS: u128 = 1 << 16;

/// Cells that a sample of a domain of `cells` cells may evaluate: a thousandth, at least 2^10 and at most 2^16.
pub fn budget(cells: u128) -> u64 {
    (cells / SHARE).clamp(LEAST_CELLS, MOST_CELLS) as u64
}

/// A scheme that can be run, the same on every axis.
#[derive(Debug, Clone)]
pub struct Candidate<const K: usize> {
    /// g.
    pub g: u32,
    /// r.
    pub r: u32,
    /// B.
    pub b: u32,
    /// Workers per region.
    pub scheme: ParallelScheme,
    /// The plan.
    pub plan: Plan<K>,
    /// What it should take, in seconds if there are constants, else in the model's unit; the order of the candidates.
    pub cost: f64,
}

/// Every scheme with n ≥ g·r·B on every axis for which `plan` has a plan. Of those with the same levels, the one of least
/// B. Their cost is not known yet.
pub fn candidates<const K: usize>(
    size: [u32; K],
    schemes: &[ParallelScheme],
    mut plan: impl FnMut([u32; 3]) -> Option<Plan<K>>,
) -> Vec<Candidate<K>> {
    let mut found: Vec<Candidate<K>> = Vec::new();
    for g in TRIED {
        for r in TRIED {
            let mut depth = None;
            for b in TRIED {
                if size.iter().any(|&n| u64::from(n) < u64::from(g) * u64::from(r) * u64::from(b)) {
                    break;
                }
                let Some(plan) = plan([g, r, b]) else { continue };
                if depth.replace(plan.levels().len()) == Some(plan.levels().len()) {
                    continue;
                }
                found.extend(schemes.iter().map(|&scheme| Candidate {
                    g,
                    r,
                    b,
                    scheme,
                    plan: plan.clone(),
                    cost: 0.0,
                }));
            }
        }
    }
    found
}

/// Puts candidates in order, the cheapest first; equal ones in the order of g, r, B.
///
/// # Errors
/// [`ModelError`] if the model has no value for a candidate.
pub fn rank<const K: usize>(
    candidates: &mut [Candidate<K>],
    coarse: &Coarse<K>,
    how: &How,
    machine: Machine,
    constants: Option<Terms>,
) -> Result<(), ModelError> {
    for candidate in candidates.iter_mut() {
        candidate.cost = match constants {
            Some(constants) => {
                let levels = coarse.levels(&candidate.plan, how.order, how.keep, machine.rounds());
                Terms::new(how.strategy, candidate.scheme, machine, &levels).times(constants)
            }
            None => paper(candidate, coarse, machine)?,
        };
    }
    candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
    Ok(())
}

/// T_SBR or T_MBR, Eqs. (23) and (24).
fn paper<const K: usize>(candidate: &Candidate<K>, coarse: &Coarse<K>, machine: Machine) -> Result<f64, ModelError> {
    let n: Vec<u64> = candidate.plan.domain().size().map(u64::from).to_vec();
    let geometry = Geometry::uniform(&n, candidate.g.into(), candidate.r.into(), candidate.b.into())?;
    let problem = Problem {
        n,
        density: Density::Dimension(coarse.box_dimension()),
        costs: Costs::new(COSTS.0, COSTS.1)?,
        processors: machine.processors()?,
        options: Options::default(),
    };
    let objective = match candidate.scheme {
        ParallelScheme::Sbr => Objective::Sbr,
        ParallelScheme::Mbr => Objective::Mbr,
    };
    problem.cost(objective, &geometry)
}
