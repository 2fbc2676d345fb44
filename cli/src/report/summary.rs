//! What an experiment found, in one sentence that is computed from its rows.
//!
//! It tells of one problem, the one that most methods were tried on and of these the greatest, and counts who won the others.

use std::collections::BTreeMap;

use crate::report::facts::{Fact, Problem, best, distinct, four, problems};

/// The sentence; None if there is no fact.
pub(super) fn sentence(facts: &[Fact]) -> Option<String> {
    let problems = problems(facts);
    let weight = |facts: &[&Fact]| (methods(facts), facts.len() > 1);
    let larger = |a: &[&Fact], b: &[&Fact]| weight(a).cmp(&weight(b)).then(a[0].cells().total_cmp(&b[0].cells()));
    let (problem, chosen) = problems.iter().max_by(|(_, a), (_, b)| larger(a, b))?;
    let found = if methods(chosen) > 1 { between_methods(chosen) } else { between_cases(chosen) };
    Some(format!("{found}, at {}{}.", named(problem), others(&problems)))
}

fn methods(facts: &[&Fact]) -> usize {
    distinct(facts.iter().copied(), Fact::method).len()
}

fn named(Problem { field, place, n, dwell }: &Problem) -> String {
    let dwell = if *dwell > 0 { format!(", dwell {dwell}") } else { String::new() };
    format!("n = {n}{dwell} ({field}; {place})")
}

/// A median and how sure it is.
fn median_text(fact: &Fact) -> String {
    let sure = match (&fact.spread, fact.samples) {
        (Some(_), samples) => format!("± {} %, {samples} samples", fact.deviation()),
        (None, 1) => "1 sample".into(),
        (None, samples) => format!("{samples} samples"),
    };
    format!("{} ms ({sure})", fact.ms())
}

/// How many times as fast one is as another, and whether that may be chance.
fn gain(fast: &Fact, slow: &Fact) -> String {
    let deviation = |fact: &Fact| fact.spread.as_ref().map_or(0.0, |spread| spread.deviation);
    let within = slow.median - fast.median <= deviation(fast) + deviation(slow);
    let within = if within { ", a difference within the spread," } else { "" };
    format!("{} times as fast{within} as", four(slow.median / fast.median))
}

fn between_methods(facts: &[&Fact]) -> String {
    let mut best: Vec<&Fact> = best(facts.iter().copied(), Fact::method).into_values().collect();
    best.sort_by(|a, b| a.median.total_cmp(&b.median));
    let (first, second) = (best[0], best[1]);
    let scheme = if first.is_exhaustive() { String::new() } else { format!(" {}", first.configuration()) };
    let whole = best[2..].iter().find(|fact| fact.is_exhaustive());
    let whole = whole.map_or(String::new(), |whole| format!(" and {} exhaustive", gain(first, whole)));
    format!(
        "{}{scheme} was the fastest with {}, {} {} with {}{whole}",
        first.method(),
        median_text(first),
        gain(first, second),
        second.method(),
        median_text(second),
    )
}

/// Of one method: the fastest case beside the slowest, by the settings that vary.
fn between_cases(facts: &[&Fact]) -> String {
    let time = |a: &&&Fact, b: &&&Fact| a.median.total_cmp(&b.median);
    let (Some(fast), Some(slow)) = (facts.iter().min_by(time), facts.iter().max_by(time)) else { return String::new() };
    if facts.len() == 1 {
        return format!("{} took {}", fast.method(), median_text(fast));
    }
    let by = |fact: &Fact| {
        let varies = |name: &str| distinct(facts.iter().copied(), |fact| fact.set(name)).len() > 1;
        let varied = fact.settings.iter().filter(|(name, _)| varies(name));
        let varied: Vec<String> = varied.map(|(name, value)| format!("{name} {value}")).collect();
        if varied.is_empty() { "one run".into() } else { varied.join(" ") }
    };
    format!(
        "Of {} cases of {} the fastest was {} with {}, {} {}, the slowest, with {}",
        facts.len(),
        fast.method(),
        by(fast),
        median_text(fast),
        gain(fast, slow),
        by(slow),
        median_text(slow),
    )
}

/// Who won how many of all problems, where methods were compared.
fn others(problems: &BTreeMap<Problem, Vec<&Fact>>) -> String {
    let mut wins: BTreeMap<String, usize> = BTreeMap::new();
    let contested: Vec<_> = problems.values().filter(|facts| methods(facts) > 1).collect();
    for facts in &contested {
        let first = facts.iter().min_by(|a, b| a.median.total_cmp(&b.median));
        *wins.entry(first.map(|fact| fact.method()).unwrap_or_default()).or_default() += 1;
    }
    if contested.len() < 2 {
        return String::new();
    }
    let mut wins: Vec<(String, usize)> = wins.into_iter().collect();
    wins.sort_by_key(|(_, many)| std::cmp::Reverse(*many));
    let wins: Vec<String> = wins.iter().map(|(method, many)| format!("{method} won {many}")).collect();
    format!("; of all {} problems {}", contested.len(), wins.join(", "))
}
