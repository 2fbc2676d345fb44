//! Figures, chosen by what the rows vary; what has no data is left out.
//!
//! A point is always the fastest of the rows that agree on what its figure shows: whatever is not on an axis and not in the
//! legend is at its best.

mod dimensions;
mod energy;
mod landscape;
mod levels;
mod scaling;
mod tuning;

use super::facts::{Fact, subjects};
use crate::output::chart::{Axis, Curve, Curves, Panel, Scale};

/// A picture with its words.
pub(super) struct Figure {
    /// Its place in a folder and in a page.
    pub(super) name: String,
    pub(super) title: String,
    pub(super) caption: String,
    pub(super) panel: Panel,
}

/// All figures that the facts allow.
pub(super) fn figures(facts: &[Fact]) -> Vec<Figure> {
    let mut figures = Vec::new();
    for (subject, facts) in subjects(facts) {
        figures.extend(scaling::figures(&subject, &facts));
        figures.extend(landscape::figures(&subject, &facts));
        figures.extend(tuning::figures(&subject, &facts));
        figures.extend(energy::figures(&subject, &facts));
    }
    figures.extend(levels::figures(facts));
    figures.extend(dimensions::figures(facts));
    // Names are unique, and say in which order to look.
    for (i, figure) in figures.iter_mut().enumerate() {
        figure.name = format!("{:02}-{}", i + 1, figure.name);
    }
    figures
}

/// An axis.
fn axis(name: &str, scale: Scale) -> Axis {
    Axis { name: name.into(), scale }
}

/// Curves as a figure; None if fewer than two points would be seen.
fn drawn(name: String, title: String, caption: String, [x, y]: [Axis; 2], curves: Vec<Curve>) -> Option<Figure> {
    let curves: Vec<Curve> = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    if curves.iter().map(|curve| curve.points.len()).sum::<usize>() < 2 {
        return None;
    }
    let panel = Panel::Curves(Curves { title: title.clone(), x, y, curves });
    Some(Figure { name, title, caption, panel })
}

/// A curve through one fact per x, with the spread of its samples.
fn curve<'a>(name: &str, facts: impl IntoIterator<Item = (u64, &'a Fact)>, value: impl Fn(&Fact, f64) -> f64) -> Curve {
    let (points, band) = facts
        .into_iter()
        .map(|(x, fact)| {
            let ends = [value(fact, fact.least), value(fact, fact.greatest)];
            let [one, other] = ends;
            ([x as f64, value(fact, fact.median)], [one.min(other), one.max(other)])
        })
        .unzip();
    Curve { name: name.into(), points, band, look: look(name) }
}

/// The tone and mark of a method.
fn look(name: &str) -> Option<usize> {
    METHODS.iter().position(|method| *method == name)
}

/// What looks the same in every figure.
const METHODS: [&str; 5] = ["exhaustive", "ask sbr", "ask mbr", "dp sbr", "dp mbr"];
