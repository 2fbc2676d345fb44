//! Time, speedup and throughput against the size of the problem and the scheme: the ASK paper's Fig. 8, and throughput
//! against dwell and resolution with the spread of trials, as Zhong's report has it.

use super::figure::{Figure, SPEEDUP, TIME, axis, curve, drawn, named_axis};
use crate::output::chart::Scale;
use crate::report::facts::{Fact, best, distinct};

/// Something to draw against: its name, its value, and the fewest values that make a figure.
type Against = (&'static str, fn(&Fact) -> u64, usize);

const AXES: [Against; 4] = [("n", Fact::n, 2), ("g", Fact::g, 3), ("r", Fact::r, 3), ("B", Fact::b, 3)];

pub(super) fn figures(subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for against in AXES {
        // What is not the axis is held where the axis was varied most.
        let at =
            if against.0 == "n" { richest(facts, Fact::dwell, Fact::n) } else { richest(facts, problem, against.1) };
        figures.extend(times(against, &named(subject, against.0, &at), &at));
    }
    let at = richest(facts, Fact::dwell, Fact::n);
    figures.extend(throughput("n", "resolution", Fact::n, &named(subject, "n", &at), &at));
    let at = richest(facts, Fact::n, Fact::dwell);
    figures.extend(throughput("dwell", "dwell", Fact::dwell, &named(subject, "dwell", &at), &at));
    figures.extend(times(("dwell", Fact::dwell, 2), &named(subject, "dwell", &at), &at));
    figures
}

fn problem(fact: &Fact) -> (u64, u64) {
    (fact.dwell(), fact.n())
}

/// The facts at that value of `held` for which runs that divide have most values of `varied`; of several, the greatest.
fn richest<'a, T: Ord>(facts: &[&'a Fact], held: fn(&Fact) -> T, varied: fn(&Fact) -> u64) -> Vec<&'a Fact> {
    let at = |value: &T| facts.iter().copied().filter(|fact| held(fact) == *value).collect::<Vec<_>>();
    let values = |facts: &[&Fact]| distinct(facts.iter().copied().filter(|fact| !fact.is_exhaustive()), varied).len();
    let chosen = distinct(facts.iter().copied(), held).into_iter().map(|value| at(&value));
    chosen.max_by_key(|facts| values(facts)).unwrap_or_default()
}

/// The subject, with what is held besides `axis`.
fn named(subject: &str, axis: &str, facts: &[&Fact]) -> String {
    let mut text = subject.to_owned();
    if let Some(fact) = facts.first() {
        if axis != "dwell" && fact.dwell() > 0 {
            text += &format!(", dwell {}", fact.dwell());
        }
        if axis != "n" {
            text += &format!(", n = {}", fact.n());
        }
    }
    text
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
    let x = || axis(named_axis(name), Scale::Binary);
    let caption = |what: &str| format!("{subject}. {what} What is not named is at its best.");
    [
        drawn(
            format!("time-{name}"),
            format!("Time against {name}"),
            caption("Medians in milliseconds."),
            [x(), axis(TIME, Scale::Decimal)],
            time,
        ),
        drawn(
            format!("speedup-{name}"),
            format!("Speedup over exhaustive against {name}"),
            caption("Median of exhaustive over the median of each strategy."),
            [x(), axis(SPEEDUP, Scale::Linear)],
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
    let unit = if flat { "Mpixel/s" } else { "Mcells/s" };
    let methods = distinct(facts.iter().copied(), Fact::method);
    let curves = methods.iter().map(|method| {
        let best = best(facts.iter().copied().filter(|fact| fact.method() == *method), of);
        curve(method, best, |fact, time| fact.cells() / time / 1e6)
    });
    drawn(
        format!("throughput-{name}"),
        format!("{unit} against {word}"),
        format!("{subject}. Medians."),
        [axis(named_axis(name), Scale::Binary), axis(&format!("throughput ({unit})"), Scale::Decimal)],
        curves.collect(),
    )
}
