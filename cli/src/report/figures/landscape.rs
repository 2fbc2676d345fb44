//! The configuration landscape: time over g and (r, B), the ASK paper's Fig. 7.

use std::collections::BTreeMap;

use orthant::per_axis;

use super::figure::Figure;
use crate::output::chart::{HeatMap, Panel};
use crate::report::facts::{Fact, best, distinct};

pub(super) fn figures(subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let divided = || facts.iter().copied().filter(|fact| !fact.is_exhaustive());
    let maps = distinct(divided(), |fact| fact.method()).into_iter().filter_map(|method| {
        let of_method: Vec<&Fact> = divided().filter(|fact| fact.method() == method).collect();
        // The largest problem that was searched.
        let mut problems: BTreeMap<(u64, u64), Vec<&Fact>> = BTreeMap::new();
        for fact in of_method {
            problems.entry((fact.n(), fact.dwell())).or_default().push(fact);
        }
        problems.into_iter().rev().find_map(|((n, dwell), facts)| map(subject, &method, n, dwell, &facts))
    });
    maps.collect()
}

fn map(subject: &str, method: &str, n: u64, dwell: u64, facts: &[&Fact]) -> Option<Figure> {
    let columns = distinct(facts.iter().copied(), |fact| (&fact.ran.r, &fact.ran.b));
    let rows = distinct(facts.iter().copied(), |fact| &fact.ran.g);
    if columns.len() < 2 || rows.len() < 2 {
        return None;
    }
    let best = best(facts.iter().copied(), |fact| (&fact.ran.g, (&fact.ran.r, &fact.ran.b)));
    let least = best.values().map(|fact| fact.median).fold(f64::INFINITY, f64::min);
    let cell = |row, column| best.get(&(row, column)).map(|fact| fact.median / least);
    let fastest = best.values().min_by(|a, b| a.median.total_cmp(&b.median))?;
    let title = format!("{method}: time over the best, n = {n}");
    let panel = Panel::HeatMap(HeatMap {
        title: title.clone(),
        x: (
            "r, B".into(),
            columns.iter().map(|(r, b)| format!("{},{}", per_axis::text(r), per_axis::text(b))).collect(),
        ),
        y: ("g".into(), rows.iter().map(|g| per_axis::text(g)).collect()),
        values: rows.iter().map(|&g| columns.iter().map(|&column| cell(g, column)).collect()).collect(),
    });
    let with = if dwell > 0 { format!(", dwell {dwell}") } else { String::new() };
    let caption = format!(
        "{subject}{with}. 1.00 is the best, {}, at {:.4} ms; empty places were not measured.",
        fastest.configuration(),
        least * 1e3
    );
    Some(Figure { name: format!("landscape-{}", method.replace(' ', "-")), title, caption, panel })
}
