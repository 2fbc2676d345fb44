//! Time, speedup and throughput against the size of the problem and the scheme: the ASK paper's Fig. 8, and throughput
//! against dwell and resolution with the spread of trials, as Zhong's report has it.

use super::{Figure, axis, curve, drawn};
use crate::cli::report::facts::{Fact, best, distinct};
use crate::output::chart::Scale;

/// Something to draw against: its name, its value, and the fewest values that make a figure.
type Against = (&'static str, fn(&Fact) -> u64, usize);

const AXES: [Against; 4] = [("n", Fact::n, 2), ("g", Fact::g, 3), ("r", Fact::r, 3), ("B", Fact::b, 3)];

pub(super) fn figures(subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let mut figures = Vec::new();
    let dwells = distinct(facts.iter().copied(), Fact::dwell);
    // The greatest dwell and, where n is not the axis, the greatest n stand for all.
    let dwell = dwells.last().copied().unwrap_or_default();
    let of_dwell: Vec<&Fact> = facts.iter().copied().filter(|fact| fact.dwell() == dwell).collect();
    let with = if dwell > 0 { format!(", dwell {dwell}") } else { String::new() };
    for against in AXES {
        let at: Vec<&Fact> = if against.0 == "n" { of_dwell.clone() } else { largest(&of_dwell) };
        let at_n = match (against.0, at.first()) {
            ("n", _) | (_, None) => String::new(),
            (_, Some(fact)) => format!(", n = {}", fact.n()),
        };
        figures.extend(times(against, &format!("{subject}{with}{at_n}"), &at));
    }
    figures.extend(throughput("n", "resolution", Fact::n, &format!("{subject}{with}"), &of_dwell));
    if dwells.len() > 1 {
        let at = largest(facts);
        let n = at.first().map_or(0, |fact| fact.n());
        figures.extend(throughput("dwell", "dwell", Fact::dwell, &format!("{subject}, n = {n}"), &at));
        figures.extend(times(("dwell", Fact::dwell, 2), &format!("{subject}, n = {n}"), &at));
    }
    figures
}

/// The facts at the greatest n that has any that divide.
fn largest<'a>(facts: &[&'a Fact]) -> Vec<&'a Fact> {
    let divided = facts.iter().copied().filter(|fact| !fact.is_exhaustive());
    let n = distinct(divided, Fact::n).last().copied();
    facts.iter().copied().filter(|fact| Some(fact.n()) == n).collect()
}

/// Time, and speedup over exhaustive where that was measured.
fn times((name, of, fewest): Against, subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let divided = || facts.iter().copied().filter(|fact| !fact.is_exhaustive());
    let (exhaustive, values) =
        (facts.iter().copied().filter(|fact| fact.is_exhaustive()).collect::<Vec<_>>(), distinct(divided(), of));
    let of_problem = matches!(name, "n" | "dwell");
    let all = if of_problem { distinct(facts.iter().copied(), of) } else { values.clone() };
    if all.len() < fewest {
        return Vec::new();
    }
    // Exhaustive has no scheme: against g, r and B it is the same everywhere.
    let whole = |value: u64| -> Option<&Fact> {
        let same = exhaustive.iter().copied().filter(|fact| !of_problem || of(fact) == value);
        same.min_by(|a, b| a.median.total_cmp(&b.median))
    };
    let methods = distinct(divided(), Fact::method);
    let mut time = vec![curve("exhaustive", all.iter().filter_map(|&v| Some((v, whole(v)?))), |_, t| t * 1e3)];
    let mut gain = Vec::new();
    for method in &methods {
        let best = best(divided().filter(|fact| fact.method() == *method), of);
        time.push(curve(method, best.iter().map(|(&v, &fact)| (v, fact)), |_, t| t * 1e3));
        let pairs = best.iter().filter(|(value, _)| whole(**value).is_some());
        let over = |fact: &Fact, time: f64| whole(of(fact)).map_or(f64::NAN, |whole| whole.median / time);
        gain.push(curve(method, pairs.map(|(&v, &fact)| (v, fact)), over));
    }
    let x = || axis(name, Scale::Binary);
    let caption = |what: &str| format!("{subject}. {what} What is not named is at its best; bands hold all samples.");
    [
        drawn(
            format!("time-{name}"),
            format!("Time against {name}"),
            caption("Medians in milliseconds."),
            [x(), axis("ms", Scale::Decimal)],
            time,
        ),
        drawn(
            format!("speedup-{name}"),
            format!("Speedup over exhaustive against {name}"),
            caption("Median of exhaustive over the median of each strategy."),
            [x(), axis("speedup", Scale::Linear)],
            gain,
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Cells per second.
fn throughput(name: &str, word: &str, of: fn(&Fact) -> u64, subject: &str, facts: &[&Fact]) -> Option<Figure> {
    if distinct(facts.iter().copied(), of).len() < 2 {
        return None;
    }
    let flat = facts.first().is_some_and(|fact| fact.ran.k == 2);
    let unit = if flat { "MPixel/s" } else { "million cells per s" };
    let methods = distinct(facts.iter().copied(), Fact::method);
    let curves = methods.iter().map(|method| {
        let best = best(facts.iter().copied().filter(|fact| fact.method() == *method), of);
        curve(method, best, |fact, time| fact.cells() / time / 1e6)
    });
    drawn(
        format!("throughput-{name}"),
        format!("{unit} against {word}"),
        format!("{subject}. Medians; bands hold all samples."),
        [axis(name, Scale::Binary), axis(unit, Scale::Decimal)],
        curves.collect(),
    )
}
