//! The figures of the ASK paper, from its equations: every point is the optimum of its own search.

use rayon::prelude::*;

use crate::error::Error;
use crate::model::symbols::flagged;
use crate::output::chart::{Axis, Curve, Curves, HeatMap, Panel, Scale};
use orthant::model::optimum::{Candidate, Optimum, landscape};
use orthant::model::{Costs, Density, ModelError, Objective, Options, Problem, Processors, Space, optimum};

/// The paper's parameters: P, A, λ of a figure's base, q = 128, c = 64, k = 2.
#[derive(Debug, Clone, Copy)]
struct Base {
    p: f64,
    a: f64,
    lambda: f64,
}

const BASE: Base = Base { p: 0.7, a: 16.0, lambda: 100.0 };

/// log2 of the sizes on the x axes.
const SIZES: std::ops::RangeInclusive<u32> = 3..=30;

impl Base {
    fn problem(self, n: u64) -> Result<Problem, ModelError> {
        Ok(Problem {
            n: vec![n; 2],
            density: Density::Constant(self.p),
            costs: Costs::new(self.a, self.lambda)?,
            processors: Processors::new(128, 64)?,
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

/// Gains against n for several P, several A and several λ.
fn gains(objective: Objective, name: &str) -> Result<Vec<Panel>, ModelError> {
    let panel = |of: &str, bases: [(f64, Base); 4]| {
        let curves = bases.map(|(value, base)| base.curve(objective, format!("{of} = {value}"), |best| best.gain));
        Ok(Panel::Curves(Curves {
            title: format!("{name} for several {of}"),
            x: binary("n"),
            y: binary(name),
            curves: curves.into_iter().collect::<Result<_, ModelError>>()?,
        }))
    };
    Ok(vec![
        panel("P", [0.6, 0.7, 0.8, 0.9].map(|p| (p, Base { p, ..BASE })))?,
        panel("A", [4.0, 16.0, 64.0, 256.0].map(|a| (a, Base { a, ..BASE })))?,
        panel("lambda", [1.0, 1e2, 1e4, 1e6].map(|lambda| (lambda, Base { lambda, ..BASE })))?,
    ])
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
    Ok(vec![gains(Objective::Work, "Omega")?, best(&searches)?])
}

/// Fig. 4: the speedups of SBR and MBR (Eq. 25) and the {g, r, B} of least time.
pub(super) fn speedups() -> Result<Vec<Vec<Panel>>, Error> {
    let searches = [(Objective::Sbr, BASE, "SBR"), (Objective::Mbr, BASE, "MBR")];
    Ok(vec![gains(Objective::Sbr, "S_SBR")?, gains(Objective::Mbr, "S_MBR")?, best(&searches)?])
}

/// One of g, r and B, and the values of it that some scheme has.
struct Splits {
    name: &'static str,
    values: Vec<u64>,
    of: fn(&Candidate) -> u64,
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
    let axis = |name: &'static str, values: &[u64], of: fn(&Candidate) -> u64| {
        let tried = values.iter().copied().filter(|&value| candidates.iter().any(|scheme| of(scheme) == value));
        Splits { name, values: tried.collect(), of }
    };
    let g = axis("g", &space.g, |scheme| scheme.g);
    let r = axis("r", &space.r, |scheme| scheme.r);
    let b = axis("B", &space.b, |scheme| scheme.b);
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
