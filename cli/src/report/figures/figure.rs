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

impl Figure {
    /// The same figure, with what tells it from others of its kind in its title; the one in the picture stays short.
    pub(super) fn of(mut self, what: &str) -> Self {
        if !what.is_empty() {
            self.title += &format!(": {what}");
        }
        self
    }
}

/// What axes of several figures show, with its unit.
pub(super) const CELLS: &str = "n, cells per axis";
pub(super) const TIME: &str = "time (ms)";
pub(super) const SPEEDUP: &str = "speedup over exhaustive";

/// What is written beside an axis of a setting.
pub(super) fn named_axis(setting: &str) -> &str {
    match setting {
        "n" => CELLS,
        "dwell" => "dwell, the most iterations",
        other => other,
    }
}

/// An axis.
pub(super) fn axis(name: &str, scale: Scale) -> Axis {
    Axis { name: name.into(), scale }
}

/// Curves as a figure, which names those that cannot be told apart; None if fewer than two points would be seen.
pub(super) fn drawn(
    name: String,
    title: String,
    mut caption: String,
    [x, y]: [Axis; 2],
    curves: Vec<Curve>,
) -> Option<Figure> {
    let mut curves: Vec<Curve> = curves.into_iter().filter(|curve| !curve.points.is_empty()).collect();
    if curves.iter().map(|curve| curve.points.len()).sum::<usize>() < 2 {
        return None;
    }
    // What is drawn later leaves gaps for what was drawn before.
    curves.sort_by_cached_key(|curve| (curve.look, by_number(&curve.name)));
    if curves.iter().any(|curve| !curve.bars.is_empty()) {
        caption += " Bars: the median absolute deviation.";
    }
    if curves.iter().any(|curve| !curve.outliers.is_empty()) {
        caption += " Rings: outliers.";
    }
    let together = together(&curves);
    if !together.is_empty() {
        caption += &format!(" Within {:.0} % of each other everywhere: {}.", NEAR * 100.0, together.join("; "));
    }
    let panel = Panel::Curves(Curves { title: title.clone(), x, y, curves });
    Some(Figure { name, title, caption, panel })
}

/// A name as its words and numbers, so that 16 comes after 2.
fn by_number(name: &str) -> Vec<(u64, String)> {
    let words = name.split_inclusive(|letter: char| !letter.is_ascii_digit());
    let word = |word: &str| {
        let letters = word.trim_start_matches(|letter: char| letter.is_ascii_digit());
        (word[..word.len() - letters.len()].parse().unwrap_or(0), letters.to_owned())
    };
    words.map(word).collect()
}

/// Curves that nowhere differ by more than this share lie on each other.
const NEAR: f64 = 0.02;

/// The names of curves that lie on each other.
fn together(curves: &[Curve]) -> Vec<String> {
    let mut groups: Vec<Vec<&Curve>> = Vec::new();
    for curve in curves {
        match groups.iter_mut().find(|group| group.iter().all(|other| alike(curve, other))) {
            Some(group) => group.push(curve),
            None => groups.push(vec![curve]),
        }
    }
    let names = |group: Vec<&Curve>| group.iter().map(|curve| &curve.name[..]).collect::<Vec<_>>().join(", ");
    groups.into_iter().filter(|group| group.len() > 1).map(names).collect()
}

/// True of curves that lie on each other wherever both have a point, and that is somewhere.
fn alike(a: &Curve, b: &Curve) -> bool {
    let there = |&[x, y]: &[f64; 2]| b.points.iter().find(|other| other[0] == x).map(|other| (y, other[1]));
    let pairs: Vec<(f64, f64)> = a.points.iter().filter_map(there).collect();
    !pairs.is_empty() && pairs.iter().all(|(y, other)| (y - other).abs() <= NEAR * y.abs().max(other.abs()))
}

/// A curve through one fact per x, with the spread of its samples.
pub(super) fn curve<'a>(
    name: &str,
    facts: impl IntoIterator<Item = (u64, &'a Fact)>,
    value: impl Fn(&Fact, f64) -> f64,
) -> Curve {
    let mut curve = Curve { look: look(name), ..Curve::new(name.into(), Vec::new()) };
    for (x, fact) in facts {
        let (x, middle) = (x as f64, value(fact, fact.median));
        curve.points.push([x, middle]);
        let Some(spread) = &fact.spread else { continue };
        let ends = [fact.median - spread.deviation, fact.median + spread.deviation];
        let [one, other] = ends.map(|time| value(fact, time.clamp(fact.least, fact.greatest)));
        // What is no time has no spread.
        curve.bars.extend((one != other).then_some([x, one.min(other), one.max(other)]));
        let outliers = spread.outliers.iter().map(|&time| [x, value(fact, time)]);
        curve.outliers.extend(outliers.filter(|outlier| outlier[1] != middle));
    }
    curve
}

/// The tone, dashes and mark of a method.
pub(super) fn look(name: &str) -> Option<usize> {
    METHODS.iter().position(|method| *method == name)
}

/// What looks the same in every figure.
const METHODS: [&str; 5] = ["exhaustive", "ask sbr", "ask mbr", "dp sbr", "dp mbr"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn legends_are_sorted_by_their_numbers() {
        let curve = |name: &str| Curve::new(name.into(), vec![[1.0, 1.0], [2.0, 2.0]]);
        let axes = || [axis("x", Scale::Linear), axis("y", Scale::Linear)];
        let curves = ["r = 16", "dp mbr", "r = 2", "r = 4 {128}", "r = 4 {64}"].map(curve);
        let figure = drawn("f".into(), "t".into(), String::new(), axes(), curves.into()).unwrap();
        let Panel::Curves(panel) = &figure.panel else { panic!("curves") };
        let names: Vec<&str> = panel.curves.iter().map(|curve| &curve.name[..]).collect();
        assert_eq!(names, ["dp mbr", "r = 2", "r = 4 {64}", "r = 4 {128}", "r = 16"]);
    }

    #[test]
    fn curves_on_each_other_are_named() {
        let curve = |name: &str, points: &[[f64; 2]]| Curve::new(name.into(), points.to_vec());
        let curves = [
            curve("a", &[[1.0, 10.0], [2.0, 20.0]]),
            curve("b", &[[1.0, 10.0], [2.0, 22.0]]),
            curve("c", &[[1.0, 10.1], [2.0, 20.1], [4.0, 9.0]]),
            curve("d", &[[8.0, 10.0]]),
        ];
        assert_eq!(together(&curves), ["a, c"]);
    }
}
