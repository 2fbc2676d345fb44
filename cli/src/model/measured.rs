//! Speedups that `bench` measured, as curves for the panels of the ASK paper's Figure 4.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::bench::ran::RanRow;
use crate::bench::row::{self, Row};
use crate::error::Error;
use crate::output::chart::Curve;

/// Speedups of ask over the fastest exhaustive run of the same size.
pub(super) struct MeasuredSpeedups {
    points: Vec<Point>,
    /// Field and machine, as a title says it.
    pub(super) of: String,
}

/// A run of ask.
struct Point {
    scheme: String,
    n: u32,
    split: [u32; 3],
    speedup: f64,
}

/// What a panel's x axis shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Over {
    Size,
    /// g, r or B, by its place in `{g, r, B}`.
    Split(usize),
}

impl MeasuredSpeedups {
    /// Those in a file of rows.
    ///
    /// # Errors
    /// As reading rows; [`Error::Input`] if they are of several fields or machines, or if no size has both exhaustive and ask.
    pub(super) fn read(path: &Path) -> Result<Self, Error> {
        let rows = row::read(path)?;
        let runs: Vec<(&RanRow, f64)> = rows.iter().filter_map(ran).filter(|(ran, _)| alike(ran)).collect();
        let refused = |why: String| Error::Input(format!("--measured {}: {why}", path.display())).about(&["measured"]);
        let mut subjects: Vec<String> =
            rows.iter().filter(|row| ran(row).is_some_and(|(ran, _)| alike(ran))).map(subject).collect();
        subjects.sort();
        subjects.dedup();
        // Only what divides explores.
        let asked = runs.iter().filter(|(ran, _)| ran.strategy == "ask");
        let explored: BTreeSet<&str> = asked.map(|(ran, _)| &ran.explore[..]).collect();
        let [of] = &subjects[..] else {
            return Err(refused(match subjects.len() {
                0 => "it has no run of exhaustive or ask over a domain of equal sides; `orthant bench benches/sweeps/paper-ask.toml` measures some".into(),
                _ => format!("its rows are of {}; give those of one field and one machine", subjects.join(" and of ")),
            }));
        };
        let mut whole: BTreeMap<u32, f64> = BTreeMap::new();
        for (ran, time) in runs.iter().filter(|(ran, _)| ran.strategy == "exhaustive") {
            let least = whole.entry(ran.size[0]).or_insert(*time);
            *least = least.min(*time);
        }
        let point = |&(ran, time): &(&RanRow, f64)| {
            let speedup = whole.get(&ran.size[0])? / time;
            Some(Point {
                scheme: ran.scheme.as_deref().unwrap_or_default().to_uppercase(),
                n: ran.size[0],
                split: [ran.g[0], ran.r[0], ran.b[0]],
                speedup,
            })
        };
        let points: Vec<_> = runs.iter().filter(|(ran, _)| ran.strategy == "ask").filter_map(point).collect();
        match (&explored.iter().collect::<Vec<_>>()[..], points.is_empty()) {
            ([explore], false) => Ok(Self { points, of: format!("{of}, explore {explore}") }),
            ([] | [_], _) => Err(refused("no size has a run of exhaustive and one of ask".into())),
            (rules, _) => Err(refused(format!("ask ran under the rules {rules:?}; give rows of one"))),
        }
    }

    /// The best speedup at every value of an axis, a curve per scheme; of g, r and B at the greatest size.
    pub(super) fn curves(&self, over: Over) -> Vec<Curve> {
        let greatest = self.points.iter().map(|point| point.n).max();
        let mut curves: BTreeMap<&str, BTreeMap<u32, f64>> = BTreeMap::new();
        for point in &self.points {
            let x = match over {
                Over::Size => point.n,
                Over::Split(_) if Some(point.n) != greatest => continue,
                Over::Split(place) => point.split[place],
            };
            let best = curves.entry(&point.scheme).or_default().entry(x).or_insert(point.speedup);
            *best = best.max(point.speedup);
        }
        let curve = |(scheme, points): (&str, BTreeMap<u32, f64>)| {
            Curve::new(format!("{scheme} measured"), points.into_iter().map(|(x, y)| [f64::from(x), y]).collect())
        };
        curves.into_iter().map(curve).collect()
    }
}

/// What ran in a row, and its median; None if it failed.
fn ran(row: &Row<RanRow>) -> Option<(&RanRow, f64)> {
    Some((row.run.as_ref()?, row.samples.as_ref()?.median))
}

/// True of what the figure compares: exhaustive, and ask with equal g, r and B on all axes, over a domain of equal sides.
fn alike(ran: &RanRow) -> bool {
    let equal = |axes: &[u32]| axes.iter().all(|side| *side == axes[0]);
    let divided = ran.strategy == "ask" && equal(&ran.g) && equal(&ran.r) && equal(&ran.b);
    equal(&ran.size) && (divided || ran.strategy == "exhaustive")
}

/// What has to be the same in all rows: the field, how it is computed and kept, and where.
fn subject(row: &Row<RanRow>) -> String {
    let Some((RanRow { workload, k, dwell, device, precision, arithmetic, cell, .. }, _)) = ran(row) else {
        return String::new();
    };
    let setting = |name: &str| row.case.iter().find(|(known, _)| known == name).map(|(_, value)| &value[..]);
    let said = |name: &str| setting(name).map_or(String::new(), |value| format!(", {name} {value}"));
    let dwell = dwell.map_or(String::new(), |dwell| format!(", dwell {dwell}"));
    let text = setting("text").map_or(String::new(), |text| format!(" {text}"));
    format!(
        "{workload}{text}, k = {k}{}{dwell}, {precision} {arithmetic}, {cell}{} on {device}",
        said("domain"),
        said("keep")
    )
}
