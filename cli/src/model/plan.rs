//! `orthant model plan`: the best {g, r, B} and how much it matters.

use serde_json::{Value, json};

use crate::error::Error;
use crate::model::args::{PlanOptions, Question, SearchSpace};
use crate::model::symbols::{dimensions, flagged, short, spread};
use crate::voice::{align_right, print, table};
use orthant_lab::model::optimum::Optimum;
use orthant_lab::model::{Costs, Density, Objective, Problem, Processors, Space, TauPolicy, optimum};

/// The most schemes that all searches of one call try.
const MOST: usize = 1_000_000;

/// Searches for every size and objective.
pub(crate) fn plan(args: PlanOptions) -> Result<(), Error> {
    let space = args.space.space(args.size.len() * args.objective.len())?;
    let mut found = Vec::new();
    for size in &args.size {
        let k = dimensions(args.dim, size)?;
        let problem = args.question.problem(spread("--size", size, k)?)?;
        for &objective in &args.objective {
            let best = optimum(&problem, objective, &space).map_err(flagged)?;
            found.push((size.to_string(), problem.clone(), objective, best));
        }
    }
    if args.json {
        let lines: Vec<_> = found.iter().map(|(_, problem, objective, best)| line(problem, *objective, best)).collect();
        return print(lines.join("\n") + "\n");
    }
    let mut rows = table(&["n", "objective", "g r B", "cost", "gain", "ties", "runner-up", "within 5 %", "pays"]);
    for (size, _, objective, best) in &found {
        let start = [size.clone(), objective.to_string()];
        rows.add_row(start.into_iter().chain(match best {
            Some(best) => cells(best),
            None => ["no scheme has g B r <= n", "-", "-", "-", "-", "-", "no"].map(str::to_owned),
        }));
    }
    align_right(&mut rows);
    let Question { a, lambda, q, c, .. } = args.question;
    // Sizes of several k have densities of their own, each of which is P = 0.7 at r = 2.
    let densities: Vec<_> = found.iter().map(|(_, problem, ..)| problem.density.to_string()).collect();
    let same = densities.iter().all(|density| *density == densities[0]);
    let density = if same { &densities[0] } else { "0.7 at r = 2" };
    print(format_args!("P {density}, A {a}, lambda {lambda}, q {q}, c {c}\n\n{}\n", rows.trim_fmt()))
}

/// A search as a JSON line.
fn line(problem: &Problem, objective: Objective, best: &Option<Optimum>) -> String {
    let mut line = json!({ "k": problem.n.len(), "n": problem.n, "objective": objective });
    let result = match best {
        Some(best) => {
            line["pays"] = json!(best.pays());
            json!(best)
        }
        None => json!({ "pays": false, "feasible": 0, "g": null, "r": null, "B": null, "cost": null, "gain": null }),
    };
    if let (Value::Object(line), Value::Object(density), Value::Object(result)) =
        (&mut line, json!(problem.density), result)
    {
        line.extend(density.into_iter().chain(result));
    }
    line.to_string()
}

fn cells(found: &Optimum) -> [String; 7] {
    [
        format!("{} {} {}", found.best.g, found.best.r, found.best.b),
        short(found.best.cost),
        format!("{:.3}", found.gain),
        found.n_ties.to_string(),
        found.runner_up_ratio.map_or("-".into(), |ratio| format!("{ratio:.4}")),
        format!("{} of {}", found.within_5_percent, found.feasible),
        if found.pays() { "yes" } else { "no" }.into(),
    ]
}

impl SearchSpace {
    /// What so many searches try.
    ///
    /// # Errors
    /// [`Error::Input`] if that is too much.
    pub(super) fn space(&self, searches: usize) -> Result<Space, Error> {
        let lengths = [self.g.len(), self.r.len(), self.b.len(), searches];
        match lengths.into_iter().fold(1, usize::saturating_mul) {
            ..=MOST => Ok(Space { g: self.g.clone(), r: self.r.clone(), b: self.b.clone() }),
            many => {
                let reason = format!("-g, -r and -B make {many} schemes to try; at most {MOST} are tried at once");
                Err(Error::Input(reason).about(&["g", "r", "B", "size"]))
            }
        }
    }
}

impl Question {
    /// The problem that the options pose over n cells per axis.
    pub(super) fn problem(&self, n: Vec<u64>) -> Result<Problem, Error> {
        let k = n.len();
        let density = match (self.p, self.box_dim) {
            (Some(p), _) => Density::Constant(p),
            (None, Some(d)) => Density::Dimension(d),
            // The paper's P at r = 2, scaled to other splits as a boundary of that dimension scales.
            (None, None) => Density::Dimension(k as f64 + 0.7f64.log2()),
        };
        density.check(k).map_err(flagged)?;
        Ok(Problem {
            n,
            density,
            costs: Costs::new(self.a, self.lambda).map_err(flagged)?,
            processors: Processors::new(self.q, self.c).map_err(flagged)?,
            options: self.variants.options(TauPolicy::Clamp),
        })
    }
}
