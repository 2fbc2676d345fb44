//! The figures of the ASK paper, from its equations: every point is the optimum of its own search, over what a panel leaves open.

use rayon::prelude::*;

use crate::error::Error;
use crate::model::measured::{MeasuredSpeedups, Over};
use crate::model::symbols::flagged;
use crate::output::chart::{Axis, Curve, Curves, HeatMap, Panel, Scale};
use orthant_lab::model::optimum::{Candidate, Optimum, landscape};
use orthant_lab::model::{Costs, Density, ModelError, Objective, Options, Problem, Processors, Space, optimum};

/// The paper's parameters in two dimensions: P, A, λ, q multiprocessors of c cores.
#[derive(Debug, Clone, Copy)]
struct Base {
    p: f64,
    a: f64,
    lambda: f64,
    q: u64,
    c: u64,
}

const BASE: Base = Base { p: 0.7, a: 16.0, lambda: 100.0, q: 128, c: 64 };

/// The size at which g, r and B are varied, and densities, one by one.
const SIZE: u64 = 1 << 16;

/// log2 of the sizes on the x axes.
const SIZES: std::ops::RangeInclusive<u32> = 3..=30;

impl Base {
    fn problem(self, n: u64) -> Result<Problem, ModelError> {
        Ok(Problem {
            n: vec![n; 2],
            density: Density::Constant(self.p),
            costs: Costs::new(self.a, self.lambda)?,
            processors: Processors::new(self.q, self.c)?,
            options: Options::default(),
        })
    }

    /// The optimum at every size that has one.
    fn optima(self, objective: Objective) -> Result<Vec<(u64, Optimum)>, ModelError> {
        let sizes: Vec<u64> = SIZES.map(|exponent| 1 << exponent).collect();
        let found = sizes
            .into_par_iter()
            .map(|n| Ok(optimum(&self.problem(n)?, objective, &Space::default())?.map(|best| (n, best))));
        Ok(found.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect())
    }

    /// Gains at a size against one of g, r and B, the others at their best.
    fn against(self, objective: Objective, name: String, axis: &Splits) -> Result<Curve, ModelError> {
        let problem = self.problem(SIZE)?;
        let gain = |&value: &u64| {
            let mut space = Space::default();
            *(axis.within)(&mut space) = vec![value];
            let best = optimum(&problem, objective, &space)?;
            Ok(best.map(|best| [value as f64, best.gain]))
        };
        let points = axis.values.par_iter().map(gain).collect::<Result<Vec<_>, ModelError>>()?;
        Ok(Curve::new(name, points.into_iter().flatten().collect()))
    }

    /// A curve of some figure of the optimum against n.
    fn curve(self, objective: Objective, name: String, of: Of) -> Result<Curve, ModelError> {
        let points = self.optima(objective)?.iter().map(|(n, best)| [*n as f64, of(best)]).collect();
        Ok(Curve::new(name, points))
    }
}

/// An axis of sizes, splits or gains.
fn binary(name: &str) -> Axis {
    Axis { name: name.into(), scale: Scale::Binary }
}

/// The work reduction against n for several P, several A and several λ.
fn reductions() -> Result<Vec<Panel>, ModelError> {
    let panel = |of: &str, bases: [(f64, Base); 4]| {
        let curves =
            bases.map(|(value, base)| base.curve(Objective::Work, format!("{of} = {value}"), |best| best.gain));
        Ok(Panel::Curves(Curves {
            title: format!("Omega for several {of}"),
            x: binary("n"),
            y: binary("Omega"),
            curves: curves.into_iter().collect::<Result<_, ModelError>>()?,
        }))
    };
    Ok(vec![
        panel("P", [0.6, 0.7, 0.8, 0.9].map(|p| (p, Base { p, ..BASE })))?,
        panel("A", [4.0, 16.0, 64.0, 256.0].map(|a| (a, Base { a, ..BASE })))?,
        panel("lambda", [1.0, 1e2, 1e4, 1e6].map(|lambda| (lambda, Base { lambda, ..BASE })))?,
    ])
}

/// The work reduction at a size against P for several g, several r and several B, the others at their best.
fn over_densities() -> Result<Vec<Panel>, ModelError> {
    let panel = |axis: &Splits| {
        let curve = |&value: &u64| {
            let mut space = Space::default();
            *(axis.within)(&mut space) = vec![value];
            let gain = |percent: u32| {
                let base = Base { p: f64::from(percent) / 100.0, ..BASE };
                Ok(optimum(&base.problem(SIZE)?, Objective::Work, &space)?.map(|best| [base.p, best.gain]))
            };
            let densities: Vec<u32> = (5..=100).step_by(5).collect();
            let points = densities.into_par_iter().map(gain).collect::<Result<Vec<_>, ModelError>>()?;
            Ok(Curve::new(format!("{} = {value}", axis.name), points.into_iter().flatten().collect()))
        };
        Ok(Panel::Curves(Curves {
            title: format!("Omega over P for several {}", axis.name),
            x: Axis { name: "P".into(), scale: Scale::Linear },
            y: binary("Omega"),
            curves: [2, 16, 128].iter().map(curve).collect::<Result<_, ModelError>>()?,
        }))
    };
    splits().iter().map(panel).collect()
}

/// Speedups of SBR and MBR against n, g, r and B, a row each, for several λ, q and c, a column each.
fn speedups_by(measured: Option<&MeasuredSpeedups>) -> Result<Vec<Vec<Panel>>, ModelError> {
    let varied: [(&str, [(f64, Base); 3]); 3] = [
        ("lambda", [1.0, 1e2, 1e4].map(|lambda| (lambda, Base { lambda, ..BASE }))),
        ("q", [32, 128, 512].map(|q| (q as f64, Base { q, ..BASE }))),
        ("c", [16, 64, 256].map(|c| (c as f64, Base { c, ..BASE }))),
    ];
    let objectives = [(Objective::Sbr, "SBR"), (Objective::Mbr, "MBR")];
    let panel = |axis: Option<(usize, &Splits)>, (of, bases): &(&str, [(f64, Base); 3])| {
        let curves = objectives.iter().flat_map(|&(objective, name)| {
            bases.iter().map(move |(value, base)| {
                let name = format!("{name}, {of} = {value}");
                match axis {
                    None => base.curve(objective, name, |best| best.gain),
                    Some((_, axis)) => base.against(objective, name, axis),
                }
            })
        });
        let mut curves = curves.collect::<Result<Vec<_>, ModelError>>()?;
        let (x, over) = axis.map_or(("n", Over::Size), |(place, axis)| (axis.name, Over::Split(place)));
        curves.extend(measured.iter().flat_map(|measured| measured.curves(over)));
        Ok(Panel::Curves(Curves { title: format!("S({x}) for several {of}"), x: binary(x), y: binary("S"), curves }))
    };
    let splits = splits();
    let rows = [None].into_iter().chain(splits.iter().enumerate().map(Some));
    rows.map(|axis| varied.iter().map(|of| panel(axis, of)).collect()).collect()
}

/// A number of an optimum.
type Of = fn(&Optimum) -> f64;

/// The best g, r and B against n, one panel each.
fn best(searches: &[(Objective, Base, &str)]) -> Result<Vec<Panel>, ModelError> {
    let parameters: [(&str, Of); 3] =
        [("g", |found| found.best.g as f64), ("r", |found| found.best.r as f64), ("B", |found| found.best.b as f64)];
    let panel = |(parameter, of): (&str, Of)| {
        let curves = searches.iter().map(|(objective, base, name)| base.curve(*objective, (*name).to_owned(), of));
        Ok(Panel::Curves(Curves {
            title: format!("best {parameter}"),
            x: binary("n"),
            y: binary(parameter),
            curves: curves.collect::<Result<_, ModelError>>()?,
        }))
    };
    parameters.into_iter().map(panel).collect()
}

/// Fig. 3: the work reduction Ω (Eq. 21) and the {g, r, B} of least work.
pub(super) fn work_reduction() -> Result<Vec<Vec<Panel>>, Error> {
    let lambdas = [(1.0, "lambda = 1"), (1e2, "lambda = 100"), (1e4, "lambda = 10000"), (1e6, "lambda = 1000000")];
    let searches = lambdas.map(|(lambda, name)| (Objective::Work, Base { lambda, ..BASE }, name));
    Ok(vec![reductions()?, best(&searches)?, over_densities()?])
}

/// Fig. 4: the speedups of SBR and MBR (Eq. 25), and those that were measured.
pub(super) fn speedups(measured: Option<&MeasuredSpeedups>) -> Result<Vec<Vec<Panel>>, Error> {
    Ok(speedups_by(measured)?)
}

/// One of g, r and B, and values of it.
struct Splits {
    name: &'static str,
    values: Vec<u64>,
    of: fn(&Candidate) -> u64,
    within: fn(&mut Space) -> &mut Vec<u64>,
}

/// The three of them, with the paper's values.
fn splits() -> [Splits; 3] {
    let Space { g, r, b } = Space::default();
    [
        Splits { name: "g", values: g, of: |scheme| scheme.g, within: |space| &mut space.g },
        Splits { name: "r", values: r, of: |scheme| scheme.r, within: |space| &mut space.r },
        Splits { name: "B", values: b, of: |scheme| scheme.b, within: |space| &mut space.b },
    ]
}

/// The cost over the best, over each pair of g, r and B, with the third at its best.
pub(super) fn landscapes(problem: &Problem, objective: Objective, space: &Space) -> Result<Vec<Panel>, Error> {
    let candidates = landscape(problem, objective, space).map_err(flagged)?;
    if candidates.is_empty() {
        return Err(Error::Input(
            "landscape: no scheme has g B r <= n; use a larger -n or smaller -g, -r and -B".into(),
        )
        .about(&["size", "g", "r", "B"]));
    }
    let least = candidates.iter().map(|scheme| scheme.cost).fold(f64::INFINITY, f64::min);
    // Of each the values that some scheme has.
    let mut space = space.clone();
    let [g, r, b] = splits().map(|axis| {
        let tried = |value: &u64| candidates.iter().any(|scheme| (axis.of)(scheme) == *value);
        Splits { values: (axis.within)(&mut space).iter().copied().filter(tried).collect(), ..axis }
    });
    let map = |x: &Splits, y: &Splits, rest: &Splits| {
        let cheapest = |at_x: u64, at_y: u64| {
            let here = candidates.iter().filter(|scheme| (x.of)(scheme) == at_x && (y.of)(scheme) == at_y);
            here.map(|scheme| scheme.cost / least).min_by(f64::total_cmp)
        };
        let row = |&at_y: &u64| x.values.iter().map(|&at_x| cheapest(at_x, at_y)).collect();
        Panel::HeatMap(HeatMap {
            title: format!("{objective}: cost over the best, {} at its best", rest.name),
            x: (x.name.into(), x.values.iter().map(u64::to_string).collect()),
            y: (y.name.into(), y.values.iter().map(u64::to_string).collect()),
            values: y.values.iter().map(row).collect(),
        })
    };
    Ok(vec![map(&r, &g, &b), map(&b, &g, &r), map(&b, &r, &g)])
}
