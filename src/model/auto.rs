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
                let levels = coarse.levels(&candidate.plan, how.keep);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CurveKind;
    use crate::domain::{Domain, Sample};
    use crate::model::sample::Explore;
    use crate::plan::{ExploreRule, Scheme};
    use crate::workload::{FieldOptions, mandelbrot};

    fn all(n: u32, curve: CurveKind) -> (Domain<2>, Vec<Candidate<2>>) {
        let domain = Domain::new([n; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
        let found = candidates(domain.size(), ParallelScheme::ALL, |[g, r, b]| {
            Plan::new(domain, Scheme::uniform(g, r, b), curve, ExploreRule::Border).ok()
        });
        (domain, found)
    }

    #[test]
    fn candidates_can_be_run_and_differ() {
        let (_, found) = all(256, CurveKind::Hilbert);
        let mut seen = std::collections::HashSet::new();
        for candidate in &found {
            assert!(candidate.g * candidate.r * candidate.b <= 256);
            let levels: Vec<_> = candidate.plan.levels().iter().map(|level| level.grid).collect();
            assert!(seen.insert((levels, candidate.r, candidate.scheme.name())), "{candidate:?}");
        }
        assert!(found.len() > 40);
        assert!(all(4, CurveKind::Morton).1.is_empty());
        assert_eq!(all(8, CurveKind::Morton).1.len(), ParallelScheme::ALL.len());
    }

    #[test]
    fn constants_decide_and_so_does_the_paper() {
        let (domain, found) = all(1024, CurveKind::Morton);
        let field = mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
        let machine = Machine::Cpu { threads: 2 };
        let how = How::default();
        let explore = Explore { rule: ExploreRule::Border, order: how.order, rounds: machine.rounds() };
        let coarse = Coarse::take(&*field, &domain, 1 << 12, explore);
        let best = |constants: Option<Terms>| {
            let mut ranked = found.clone();
            rank(&mut ranked, &coarse, &how, machine, constants).unwrap();
            assert!(ranked.windows(2).all(|pair| pair[0].cost <= pair[1].cost));
            (ranked[0].g, ranked[0].r, ranked[0].b, ranked[0].scheme)
        };
        // Where only cells cost, exploring goes deep; where only regions do, it hardly begins.
        let (_, r, b, _) = best(Some(Terms { nu: 1.0, ..Terms::default() }));
        assert!(r == 2 && b <= 16);
        assert_eq!(best(Some(Terms { beta: 1.0, ..Terms::default() })).0, 2);
        let (g, r, b, _) = best(None);
        assert!(g * r * b <= 1024);
    }

    #[test]
    fn samples_are_a_thousandth() {
        assert_eq!(budget(1 << 24), 1 << 14);
        assert_eq!((budget(100), budget(1 << 60)), (1 << 10, 1 << 16));
    }
}
