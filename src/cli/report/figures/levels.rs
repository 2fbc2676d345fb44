//! The density P: which share of a level's regions is mixed.

use super::{Figure, axis, drawn};
use crate::cli::report::facts::{Fact, best};
use crate::output::chart::{Curve, Scale};

/// Sizes that are drawn, the greatest ones.
const MOST: usize = 6;

pub(super) fn figures(subject: &str, facts: &[&Fact]) -> Option<Figure> {
    let deep = facts.iter().copied().filter(|fact| fact.ran.strategy == "ask" && fact.ran.levels.len() > 1);
    let best = best(deep, Fact::n);
    let curves = best.iter().rev().take(MOST).map(|(n, fact)| {
        let points = fact.ran.levels.iter().enumerate().filter_map(|(i, level)| Some([i as f64, level.p?]));
        let (g, r, b) = (fact.g(), fact.r(), fact.b());
        Curve::new(format!("n = {n} {{{g}, {r}, {b}}}"), points.collect())
    });
    drawn(
        "density".into(),
        "P per level".into(),
        format!("{subject}. The share of a level's regions that were mixed, in the fastest run of ask at every n."),
        [axis("level", Scale::Linear), axis("P", Scale::Linear)],
        curves.collect(),
    )
}
