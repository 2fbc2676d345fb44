//! How regions, tables and time grow with the number of dimensions.

use std::collections::BTreeMap;

use super::figure::{Figure, SPEEDUP, axis, curve, drawn};
use crate::output::chart::{Curve, Scale};
use crate::report::facts::{Fact, best, distinct, four};

/// The fastest run of ask in every number of dimensions, by field and machine.
fn families(facts: &[Fact]) -> BTreeMap<(String, String), BTreeMap<u64, &Fact>> {
    let mut families: BTreeMap<(String, String), Vec<&Fact>> = BTreeMap::new();
    for fact in facts.iter().filter(|fact| fact.ran.strategy == "ask") {
        families.entry((fact.family(), fact.place())).or_default().push(fact);
    }
    families.retain(|_, facts| distinct(facts.iter().copied(), |fact| fact.ran.k).len() > 1);
    families.into_iter().map(|(family, facts)| (family, spread(&facts))).collect()
}

/// The fastest fact of every k: at one n for all where there is one, else at the greatest of each.
fn spread<'a>(facts: &[&'a Fact]) -> BTreeMap<u64, &'a Fact> {
    let of = |k: usize| facts.iter().copied().filter(move |fact| fact.ran.k == k);
    let dims = distinct(facts.iter().copied(), |fact| fact.ran.k);
    let everywhere = |n: &u64| dims.iter().all(|&k| of(k).any(|fact| fact.n() == *n));
    let common = distinct(facts.iter().copied(), Fact::n).into_iter().rev().find(everywhere);
    let chosen = |fact: &&Fact| Some(fact.n()) == common.or_else(|| of(fact.ran.k).map(Fact::n).max());
    best(facts.iter().copied().filter(chosen), |fact| fact.ran.k as u64)
}

/// The median of exhaustive over that of a run, at the same field and size; None where exhaustive was not measured.
fn gain(facts: &[Fact], fact: &Fact) -> Option<f64> {
    let problem = |fact: &Fact| (fact.place(), fact.field(), fact.n(), fact.dwell());
    let same = facts.iter().filter(|other| other.is_exhaustive() && problem(other) == problem(fact));
    Some(same.map(|other| other.median).reduce(f64::min)? / fact.median)
}

/// Seconds per region that was found mixed.
fn per_mixed(fact: &Fact) -> Option<f64> {
    let (_, mixed) = fact.regions();
    (mixed > 0).then(|| fact.median / mixed as f64)
}

/// How subdivision scales with the number of dimensions, in one sentence: of the field that has most of them; None if none has two.
pub(in crate::report) fn sentence(facts: &[Fact]) -> Option<String> {
    let families = families(facts);
    let ((workload, _), best) = families.iter().max_by_key(|(_, best)| best.len())?;
    let ((least, first), (greatest, last)) = (best.first_key_value()?, best.last_key_value()?);
    let time = per_mixed(first)
        .zip(per_mixed(last))
        .map(|(from, to)| format!("the time per mixed region goes from {} to {} ns", four(from * 1e9), four(to * 1e9)));
    // Exhaustive ends where its cells take too long.
    let gains: Vec<_> = best.iter().filter_map(|(k, fact)| Some((k, fact.n(), gain(facts, fact)?))).collect();
    let speedup = match (&gains[..], gains.last()) {
        ([(from, n, slow), _, ..], Some((to, m, fast))) => Some(format!(
            "the speedup over exhaustive from {} (k = {from}, n = {n}) to {} (k = {to}, n = {m})",
            four(*slow),
            four(*fast)
        )),
        _ => None,
    };
    let found: Vec<String> = [time, speedup].into_iter().flatten().collect();
    let others = match families.len() - 1 {
        0 => String::new(),
        others => format!("; {others} more in the figures"),
    };
    (!found.is_empty())
        .then(|| format!("From k = {least} to {greatest}, by ask over {workload}, {}{others}.", found.join(" and ")))
}

pub(super) fn figures(facts: &[Fact]) -> Vec<Figure> {
    let families = families(facts);
    let mut figures = Vec::new();
    let k = || axis("k, dimensions", Scale::Linear);
    for ((workload, place), best) in &families {
        let sizes = match &distinct(best.values().copied(), Fact::n)[..] {
            [n] => format!("n = {n}"),
            _ => best.iter().map(|(k, fact)| format!("n = {} at k = {k}", fact.n())).collect::<Vec<_>>().join(", "),
        };
        let count = |name: &str, of: fn(&Fact) -> f64| {
            Curve::new(name.into(), best.iter().map(|(&k, fact)| [k as f64, of(fact)]).filter(|p| p[1] > 0.0).collect())
        };
        let caption = format!("Ask on {place}, fastest scheme of each k; {sizes}.");
        figures.extend(drawn(
            format!("dimensions-{workload}"),
            format!("{workload}: cells and regions against k"),
            caption.clone(),
            [k(), axis("count", Scale::Decimal)],
            vec![count("cells, n^k", Fact::cells), count("regions examined", |fact| fact.regions().0 as f64)],
        ));
        figures.extend(drawn(
            format!("dimensions-tables-{workload}"),
            format!("{workload}: tables against k"),
            caption,
            [k(), axis("bytes (B)", Scale::Decimal)],
            vec![count("the largest tables", |fact| fact.ran.peak_olt_bytes as f64)],
        ));
    }
    let places = families.keys().map(|(_, place)| place).collect::<std::collections::BTreeSet<_>>();
    for place in places {
        let here = families.iter().filter(|((_, other), _)| other == place);
        let curves = here.map(|((workload, _), best)| {
            let mixed = best.iter().map(|(&k, &fact)| (k, fact)).filter(|(_, fact)| fact.regions().1 > 0);
            curve(workload, mixed, |fact, time| time * 1e9 / fact.regions().1 as f64)
        });
        figures.extend(drawn(
            "dimensions-time".into(),
            "Time per active region against k".into(),
            format!("Ask on {place}. The median over the regions that were found mixed."),
            [k(), axis("time per mixed region (ns)", Scale::Decimal)],
            curves.collect(),
        ));
        let here = families.iter().filter(|((_, other), _)| other == place);
        let curves = here.map(|((workload, _), best)| {
            let paired = best.iter().filter(|&(_, fact)| gain(facts, fact).is_some()).map(|(&k, &fact)| (k, fact));
            curve(workload, paired, |fact, time| gain(facts, fact).unwrap_or(f64::NAN) * fact.median / time)
        });
        figures.extend(drawn(
            "dimensions-speedup".into(),
            "Speedup over exhaustive against k".into(),
            format!("Ask on {place}, fastest scheme of each k, over exhaustive at the same n: above 1 it pays."),
            [k(), axis(SPEEDUP, Scale::Decimal)],
            curves.collect(),
        ));
    }
    figures
}
