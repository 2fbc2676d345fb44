//! Energy of a run against the size of the problem, as the ASK paper compares strategies by it.

use super::figure::{CELLS, Figure, axis, drawn, look};
use crate::output::chart::{Curve, Scale};
use crate::report::facts::{Fact, distinct, least};

pub(super) fn figures(subject: &str, facts: &[&Fact]) -> Vec<Figure> {
    let metered = || facts.iter().copied().filter(|fact| fact.energy.is_some());
    let against_n = |dwell: u64| {
        let facts: Vec<&Fact> = metered().filter(|fact| fact.dwell() == dwell).collect();
        figure(&if dwell > 0 { format!("{subject}, dwell {dwell}") } else { subject.to_owned() }, &facts)
    };
    distinct(metered(), Fact::dwell).into_iter().filter_map(against_n).collect()
}

/// Joules per run; None if n does not vary.
fn figure(subject: &str, facts: &[&Fact]) -> Option<Figure> {
    if distinct(facts.iter().copied(), Fact::n).len() < 2 {
        return None;
    }
    let methods = distinct(facts.iter().copied(), Fact::method);
    let curves = methods.into_iter().map(|method| {
        let least = least(facts.iter().copied().filter(|fact| fact.method() == method), Fact::n, Fact::joules);
        let points = least.into_iter().filter_map(|(n, fact)| Some([n as f64, fact.joules()?])).collect();
        Curve { look: look(&method), ..Curve::new(method, points) }
    });
    drawn(
        "energy-n".into(),
        "Energy of a run against n".into(),
        format!("{subject}. Joules with what the card takes while it idles; what is not named is at its best."),
        [axis(CELLS, Scale::Binary), axis("energy of a run (J)", Scale::Decimal)],
        curves.collect(),
    )
}
