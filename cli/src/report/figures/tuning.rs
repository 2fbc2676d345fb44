//! What must not change a cell but may change a time: the order of the table, and how many launches may be in flight.

use super::figure::{CELLS, Figure, TIME, axis, curve, drawn};
use crate::output::chart::Scale;
use crate::report::facts::{Fact, best, distinct};

pub(super) fn figures(subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let mut figures = encodings(subject, facts);
    figures.extend(["dp-budget", "max-kernels"].into_iter().filter_map(|name| throttle(subject, name, facts)));
    figures
}

/// Time and table bytes per curve.
fn encodings(subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let encoding = |fact: &Fact| match fact.ran.table.as_deref() {
        Some("coordinates") => "coordinates".to_owned(),
        _ => fact.ran.curve.clone(),
    };
    let asked: Vec<&Fact> = facts.iter().copied().filter(|fact| fact.ran.strategy == "ask").collect();
    let names = distinct(asked.iter().copied(), encoding);
    if names.len() < 2 {
        return Vec::new();
    }
    // What takes memory and time is told at the same scheme: the fastest one at every n.
    let curves = |value: fn(&Fact, f64) -> f64| {
        let of = |name: &String| {
            let best = best(asked.iter().copied().filter(|fact| encoding(fact) == *name), Fact::n);
            curve(name, best, value)
        };
        names.iter().map(of).collect::<Vec<_>>()
    };
    let n = || axis(CELLS, Scale::Binary);
    [
        drawn(
            "encodings-time".into(),
            "Time of ask by encoding".into(),
            format!("{subject}. Medians in milliseconds at the best scheme."),
            [n(), axis(TIME, Scale::Decimal)],
            curves(|_, time| time * 1e3),
        ),
        drawn(
            "encodings-bytes".into(),
            "Bytes of the largest tables by encoding".into(),
            format!("{subject}. The read table and the write table of the level that takes most, in the same runs."),
            [n(), axis("tables (KiB)", Scale::Decimal)],
            curves(|fact, _| fact.ran.peak_olt_bytes as f64 / 1024.0),
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Time of dynamic parallelism against a limit on what may be in flight.
fn throttle(subject: &str, name: &str, facts: &[&Fact]) -> Option<Figure> {
    let limited = facts.iter().copied().filter(|fact| fact.ran.strategy == "dp" && fact.setting(name).is_some());
    let n = distinct(limited.clone(), Fact::n).last().copied()?;
    let limited: Vec<&Fact> = limited.filter(|fact| fact.n() == n).collect();
    let limit = |fact: &Fact| fact.setting(name).unwrap_or_default();
    if distinct(limited.iter().copied(), limit).len() < 2 {
        return None;
    }
    let label = |fact: &Fact| match &fact.ran.dp_launch {
        Some(launch) => format!("{} {launch}", fact.method()),
        None => fact.method(),
    };
    let curves = distinct(limited.iter().copied(), label).into_iter().map(|label_here| {
        let best = best(limited.iter().copied().filter(|fact| label(fact) == label_here), limit);
        curve(&label_here, best, |_, time| time * 1e3)
    });
    drawn(
        format!("throttle-{name}"),
        format!("Time of dp against {name}, n = {n}"),
        format!("{subject}. Medians in milliseconds."),
        [axis(name, Scale::Binary), axis(TIME, Scale::Decimal)],
        curves.collect(),
    )
}
