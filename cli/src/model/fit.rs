//! `orthant model fit`: the constants of the time model from run reports, for every code that ran.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::error::Error;
use crate::model::args::FitOptions;
use crate::model::reports::{self, Measured};
use crate::store::{self, Fitted, HeldOut};
use crate::voice::{Voice, align_right, print, table};
use orthant::backend::Tuning;
use orthant::{Mapping, StrategyKind};
use orthant_lab::model::ModelError;
use orthant_lab::model::fit::{Errors, Observation, errors, fit as fit_terms};
use orthant_lab::model::observed::Terms;

/// Fits every group of reports, prints what came out, and stores it.
pub(crate) fn fit(args: FitOptions, voice: Voice) -> Result<(), Error> {
    let mut groups: BTreeMap<_, Vec<Measured>> = BTreeMap::new();
    // The model has no pass and no balancer: it predicts the times of the default.
    let usual = |run: &Measured| run.tuning.unusual_pass(&run.backend).is_none() && !run.balanced;
    let (usual, others): (Vec<_>, Vec<_>) = reports::read(&args.reports)?.into_iter().partition(usual);
    let left_out = format!(
        "{} runs whose --pass is not the default of their strategy and scheme, or which have a --balancer",
        others.len()
    );
    if usual.is_empty() {
        return Err(Error::Input(format!("nothing to fit: there are only {left_out}")));
    }
    if !others.is_empty() {
        voice.say(format_args!("orthant: left out {left_out}"));
    }
    for run in usual {
        let key = (run.backend.clone(), run.device.clone(), run.setting.clone(), run.code.name());
        groups.entry(key).or_default().push(run);
    }
    let mut devices: BTreeMap<(String, String), Vec<Fitted>> = BTreeMap::new();
    let (mut lines, mut pages, mut troubles) = (Vec::new(), Vec::new(), Vec::new());
    for ((backend, device, setting, _), runs) in groups {
        let code = runs[0].code;
        let place = format!("{backend}, {device}, {setting}, {code}");
        let group = match Group::new(runs, args.hold_out) {
            Ok(group) => group,
            Err(trouble) => {
                troubles.push(format!("{place}: {trouble}"));
                continue;
            }
        };
        pages.push(format!("{place}\n{}", group.page()));
        let fitted = Fitted {
            setting,
            code,
            constants: group.constants,
            runs: group.runs.len(),
            rms: group.rms,
            held_out: group.held_out,
        };
        lines.push(group.line(&backend, &device, &fitted));
        devices.entry((backend, device)).or_default().push(fitted);
    }
    // A few runs of one code beside enough of another are no reason to learn nothing.
    if devices.is_empty() {
        return Err(Error::Input(troubles.join("; ")));
    }
    troubles.iter().for_each(|trouble| voice.say(format_args!("orthant: not fitted: {trouble}")));
    print(if args.json { lines.join("\n") + "\n" } else { pages.join("\n") })?;
    if !args.dry_run {
        for ((backend, device), fitted) in devices {
            let path = store::keep(&backend, &device, fitted)?;
            voice.say(format_args!("orthant: wrote {}", path.display()));
        }
    }
    Ok(())
}

/// The runs of one setting and code on one device, and their fit.
struct Group {
    runs: Vec<Measured>,
    constants: Terms,
    rms: f64,
    held_out: Option<HeldOut>,
    /// Per variant: errors of the fit to all runs, and on the runs held out of the other.
    variants: Vec<(String, Errors, Option<Errors>)>,
    order: Order,
}

impl Group {
    fn new(runs: Vec<Measured>, hold_out: Option<u64>) -> Result<Self, String> {
        let samples = |keep: &dyn Fn(&Measured) -> bool| -> Vec<Observation> {
            runs.iter().filter(|run| keep(run)).map(|run| run.sample).collect()
        };
        let explain = |error: ModelError| format!("{error}; give more reports, of several sizes and schemes");
        let all = fit_terms(&samples(&|_| true)).map_err(explain)?;
        let mut sizes: Vec<_> = runs.iter().map(|run| u64::from(run.size[0])).collect();
        sizes.sort();
        sizes.dedup();
        let held = match hold_out {
            Some(n) if !sizes.contains(&n) => {
                let known: Vec<_> = sizes.iter().map(u64::to_string).collect();
                return Err(format!("--hold-out {n}: no report has that size; there are {}", known.join(", ")));
            }
            Some(n) => Some(n),
            // Predicting the largest size from the others is what the model is for.
            None => sizes.last().copied().filter(|_| sizes.len() > 1),
        };
        let without = match held {
            None => None,
            Some(n) => match fit_terms(&samples(&|run| u64::from(run.size[0]) != n)) {
                Ok(fit) => Some((n, fit.constants)),
                Err(error) if hold_out.is_some() => return Err(format!("--hold-out {n}: {}", explain(error))),
                Err(_) => None,
            },
        };
        let held_errors = |name: Option<&str>| {
            let (n, constants) = without?;
            let chosen = |run: &Measured| u64::from(run.size[0]) == n && name.is_none_or(|name| run.variant() == name);
            errors(constants, &samples(&chosen))
        };
        let held_out = without.zip(held_errors(None)).map(|((n, _), errors)| HeldOut {
            n,
            runs: errors.runs,
            median: errors.median,
            worst: errors.worst,
        });
        let mut names: Vec<_> = runs.iter().map(Measured::variant).collect();
        names.sort();
        names.dedup();
        let variants = (names.into_iter())
            .filter_map(|name| {
                let fitted = errors(all.constants, &samples(&|run| run.variant() == name))?;
                let held = held_errors(Some(&name));
                Some((name, fitted, held))
            })
            .collect();
        let order = Order::new(&runs, all.constants);
        Ok(Self { constants: all.constants, rms: all.rms, held_out, variants, order, runs })
    }

    /// The group for people.
    fn page(&self) -> String {
        let mut text = format!("{} runs, rms of ln t - ln f {:.3}\n\n", self.runs.len(), self.rms);
        let mut constants = table(&["constant", "value", "of"]);
        for ((name, value), of) in Terms::NAMES.iter().zip(self.constants.array()).zip(UNITS) {
            constants.add_row([(*name).to_owned(), seconds(value), of.to_owned()]);
        }
        let mut rows = table(&["variant", "runs", "median", "worst", "held out", "median", "worst"]);
        let percent = |share: f64| format!("{:.1} %", share * 1e2);
        let mut add = |name: &str, fitted: Errors, held: Option<Errors>| {
            let mut row = vec![name.to_owned(), fitted.runs.to_string(), percent(fitted.median), percent(fitted.worst)];
            row.extend(match held {
                Some(held) => [held.runs.to_string(), percent(held.median), percent(held.worst)],
                None => ["-", "-", "-"].map(str::to_owned),
            });
            rows.add_row(row);
        };
        for (name, fitted, held) in &self.variants {
            add(name, *fitted, *held);
        }
        if let Some(all) = errors(self.constants, &self.runs.iter().map(|run| run.sample).collect::<Vec<_>>()) {
            let held = self.held_out.map(|held| Errors { median: held.median, worst: held.worst, runs: held.runs });
            add("all", all, held);
        }
        align_right(&mut rows);
        text += &format!("{}\n\nerrors of predicted times", constants.trim_fmt());
        text += &match self.held_out {
            Some(held) => format!("; held out: n = {}\n\n", held.n),
            None => "; one size only, nothing held out\n\n".to_owned(),
        };
        text += &format!("{}\n", rows.trim_fmt());
        if self.order.pairs > 0 {
            let Order { pairs, right, clear, clear_right } = self.order;
            text += &format!(
                "\nsbr or mbr: order predicted in {right} of {pairs} pairs, {clear_right} of the {clear} that differ by over 5 %\n"
            );
        }
        text
    }

    /// The group as a JSON line.
    fn line(&self, backend: &str, device: &str, fitted: &Fitted) -> String {
        let errors = |errors: &Errors| json!({ "runs": errors.runs, "median": errors.median, "worst": errors.worst });
        let variants: Vec<_> = (self.variants.iter())
            .map(|(name, fitted, held)| {
                json!({ "variant": name, "fitted": errors(fitted), "held_out": held.as_ref().map(errors) })
            })
            .collect();
        let Order { pairs, right, clear, clear_right } = self.order;
        let order = json!({ "pairs": pairs, "right": right, "clear": clear, "clear_right": clear_right });
        let mut line = json!({ "backend": backend, "device": device, "variants": variants, "sbr_or_mbr": order });
        if let (Value::Object(line), Value::Object(fitted)) = (&mut line, json!(fitted)) {
            line.extend(fitted);
        }
        line.to_string()
    }
}

/// How often the faster of SBR and MBR is predicted: runs of ASK or DP that differ in nothing else.
#[derive(Debug, Clone, Copy, Default)]
struct Order {
    pairs: usize,
    right: usize,
    /// Pairs whose times differ by more than [`CLEAR`].
    clear: usize,
    clear_right: usize,
}

const CLEAR: f64 = 0.05;

impl Order {
    fn new(runs: &[Measured], constants: Terms) -> Self {
        let mut order = Self::default();
        let divided = |run: &&Measured| run.tuning.strategy != StrategyKind::Exhaustive;
        for sbr in runs.iter().filter(divided).filter(|run| run.tuning.mapping() == Mapping::Sbr) {
            let like = |run: &Measured| {
                let Tuning { strategy, pass, .. } = run.tuning;
                (run.size.clone(), run.splits.clone(), strategy, pass, run.block)
            };
            let other = |run: &&Measured| run.tuning.mapping() == Mapping::Mbr && like(run) == like(sbr);
            let Some(mbr) = runs.iter().find(other) else { continue };
            let measured = sbr.sample.seconds / mbr.sample.seconds;
            let predicted = sbr.sample.terms.times(constants) / mbr.sample.terms.times(constants);
            let clear = measured.max(1.0 / measured) > 1.0 + CLEAR;
            // "The same" is right where the times hardly differ.
            let right = if predicted == 1.0 { !clear } else { (measured < 1.0) == (predicted < 1.0) };
            let (right, clear) = (usize::from(right), usize::from(clear));
            order.pairs += 1;
            order.right += right;
            order.clear += clear;
            order.clear_right += right * clear;
        }
        order
    }
}

/// What a constant is the time of.
const UNITS: [&str; Terms::NAMES.len()] = [
    "an iteration (a pass where iterations are not counted)",
    "a cell that is explored or evaluated, beside its iterations",
    "a cell that is filled",
    "a pass over the longest region of a level",
    "a pass over a level",
    "a region",
    "a launch from inside (dp; on the CPU a wave of them)",
];

/// A short time with its unit.
fn seconds(value: f64) -> String {
    match value {
        0.0 => "0".to_owned(),
        1e-3.. => format!("{:.3} ms", value * 1e3),
        1e-6.. => format!("{:.3} us", value * 1e6),
        1e-9.. => format!("{:.3} ns", value * 1e9),
        1e-13.. => format!("{:.3} ps", value * 1e12),
        _ => "< 0.1 ps".to_owned(),
    }
}
