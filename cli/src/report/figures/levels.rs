//! The density P: which share of a level's regions is mixed.

use std::collections::BTreeMap;

use super::figure::{Figure, axis, drawn};
use crate::output::chart::{Curve, Scale};
use crate::report::facts::{Fact, best, distinct};

/// Curves that are drawn, those of the greatest k or n.
const MOST: usize = 6;

/// A figure per field and machine: by k where that varies, else by n.
pub(super) fn figures(facts: &[Fact]) -> Vec<Figure> {
    let mut fields: BTreeMap<(&str, String), Vec<&Fact>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.ran.strategy == "ask" && fact.ran.levels.len() > 1) {
        fields.entry((&fact.ran.workload, fact.place())).or_default().push(fact);
    }
    fields.iter().filter_map(|((workload, place), facts)| figure(workload, place, facts)).collect()
}

fn figure(workload: &str, place: &str, facts: &[&Fact]) -> Option<Figure> {
    let dims = distinct(facts.iter().copied(), |fact| fact.ran.k);
    let greatest = |k: usize| facts.iter().filter(|fact| fact.ran.k == k).map(|fact| fact.n()).max();
    let shown = facts.iter().copied().filter(|fact| dims.len() == 1 || Some(fact.n()) == greatest(fact.ran.k));
    let best = best(shown, |fact| (fact.ran.k, fact.n()));
    let curves = best.iter().rev().take(MOST).map(|((k, n), fact)| {
        let points = fact.ran.levels.iter().enumerate().filter_map(|(i, level)| Some([i as f64, level.p?]));
        let of = if dims.len() > 1 { format!("k = {k}, ") } else { String::new() };
        Curve::new(format!("{of}n = {n} {}", fact.scheme()), points.collect())
    });
    drawn(
        format!("density-{workload}"),
        format!("{workload}: P per level"),
        format!("Ask on {place}. The share of a level's regions that were mixed, in the fastest run of each."),
        [axis("level", Scale::Linear), axis("P, share of mixed regions", Scale::Linear)],
        curves.collect(),
    )
}
