//! A figure, and what figures have in common.

use crate::output::chart::{Axis, Curve, Curves, Panel, Scale};
use crate::report::facts::Fact;

/// A picture with its words.
pub(in crate::report) struct Figure {
    /// Its place in a folder and in a page.
    pub(in crate::report) name: String,
    pub(in crate::report) title: String,
    pub(in crate::report) caption: String,
    pub(in crate::report) panel: Panel,
}

/// An axis.
pub(super) fn axis(name: &str, scale: Scale) -> Axis {
    Axis { name: name.into(), scale }
}

/// Curves as a figure; None if fewer than two points would be seen.
pub(super) fn drawn(
    name: String,
    title: String,
    caption: String,
    [x, y]: [Axis; 2],
    curves: Vec<Curve>,
) -> Option<Figure> {
    let curves: Vec<Curve> = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    if curves.iter().map(|curve| curve.points.len()).sum::<usize>() < 2 {
        return None;
    }
    let panel = Panel::Curves(Curves { title: title.clone(), x, y, curves });
    Some(Figure { name, title, caption, panel })
}

/// A curve through one fact per x, with the spread of its samples.
pub(super) fn curve<'a>(
    name: &str,
    facts: impl IntoIterator<Item = (u64, &'a Fact)>,
    value: impl Fn(&Fact, f64) -> f64,
) -> Curve {
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
pub(super) fn look(name: &str) -> Option<usize> {
    METHODS.iter().position(|method| *method == name)
}

/// What looks the same in every figure.
const METHODS: [&str; 5] = ["exhaustive", "ask sbr", "ask mbr", "dp sbr", "dp mbr"];
