//! What figures and tables need of a measured case.

use std::collections::BTreeMap;

use orthant::per_axis;

use crate::bench::energy::Energy;
use crate::bench::ran::{RanLevel, RanRow};
use crate::bench::row::Row;
use crate::statistics::{Spread, spread};

/// Letters of a formula's text that are shown.
const TEXT: usize = 48;

/// A measured case.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    pub(super) ran: RanRow,
    /// In the order of `run`'s options.
    pub(super) settings: Vec<(String, String)>,
    /// `device` or `wall`.
    pub(super) clock: String,
    /// Seconds: middle, extremes and spread.
    pub(super) median: f64,
    pub(super) least: f64,
    pub(super) greatest: f64,
    pub(super) spread: Option<Spread>,
    pub(super) samples: usize,
    pub(super) energy: Option<Energy>,
}

impl Fact {
    /// The fact in a row; None if the case failed.
    pub(super) fn of(row: &Row<RanRow>) -> Option<Self> {
        let (times, ran) = (row.samples.as_ref()?, row.run.as_ref()?);
        let fold = |pick: fn(f64, f64) -> f64| times.samples().iter().copied().reduce(pick);
        Some(Self {
            ran: ran.clone(),
            settings: row.case.clone(),
            clock: times.clock.clone(),
            median: times.median,
            least: fold(f64::min)?,
            greatest: fold(f64::max)?,
            spread: spread(times.samples()),
            samples: times.samples().len(),
            energy: row.energy.clone(),
        })
    }

    /// What may be drawn in one figure: the same field, computed alike, on the same machine.
    pub(super) fn subject(&self) -> String {
        format!("{}, {}", self.field(), self.place())
    }

    /// What is computed.
    pub(super) fn field(&self) -> String {
        let RanRow { workload, k, precision, arithmetic, cell, explore, .. } = &self.ran;
        let plain = if arithmetic == "plain" { ", plain arithmetic" } else { "" };
        let kept = match self.set("keep") {
            Some("counts") => "counts only".to_owned(),
            Some("regions") => "regions kept".to_owned(),
            _ => format!("{cell} cells"),
        };
        let text = self.text().map_or(String::new(), |text| match text.char_indices().nth(TEXT) {
            Some((end, _)) => format!(" {}..", &text[..end]),
            None => format!(" {text}"),
        });
        format!("{workload}{text}, k = {k}, {precision}{plain}, {kept}, explore {explore}")
    }

    /// The text of a formula.
    fn text(&self) -> Option<&str> {
        self.set("text").or_else(|| self.set("source"))
    }

    /// The field whatever its number of dimensions: of a formula how its text begins, which has more letters in more of them.
    pub(super) fn family(&self) -> String {
        match self.text().and_then(|text| text.split_whitespace().next()) {
            Some(word) => format!("{} {word} ..", self.ran.workload),
            None => self.ran.workload.clone(),
        }
    }

    /// Where it ran.
    pub(super) fn place(&self) -> String {
        match self.ran.backend.as_str() {
            "cpu" => format!("{} ({} threads)", self.ran.device, self.ran.threads),
            _ => self.ran.device.clone(),
        }
    }

    /// Strategy and parallel scheme, and the pass and the balancer where they were chosen. Exhaustive and bottom-up stand alone: no scheme
    /// matters to them.
    pub(super) fn method(&self) -> String {
        let RanRow { strategy, scheme, pass, balancer, .. } = &self.ran;
        let Some(scheme) = scheme.as_ref().filter(|_| !self.is_exhaustive()) else { return strategy.clone() };
        let chosen = [pass, balancer].into_iter().flatten().map(|name| format!(" {name}"));
        format!("{strategy} {scheme}{}", chosen.collect::<String>())
    }

    pub(super) fn is_exhaustive(&self) -> bool {
        self.ran.strategy == "exhaustive"
    }

    /// Cells per axis; the geometric mean where they differ, as of g, r and B.
    pub(super) fn n(&self) -> u64 {
        mean(&self.ran.size)
    }

    pub(super) fn cells(&self) -> f64 {
        self.ran.size.iter().map(|&n| f64::from(n)).product()
    }

    pub(super) fn dwell(&self) -> u64 {
        self.ran.dwell.map_or(0, u64::from)
    }

    /// Joules per run, if they were measured.
    pub(super) fn joules(&self) -> Option<f64> {
        self.energy.as_ref().map(|energy| energy.joules_per_run)
    }

    pub(super) fn g(&self) -> u64 {
        mean(&self.ran.g)
    }

    pub(super) fn r(&self) -> u64 {
        mean(&self.ran.r)
    }

    pub(super) fn b(&self) -> u64 {
        mean(&self.ran.b)
    }

    /// Regions examined, and those found mixed.
    pub(super) fn regions(&self) -> (u64, u64) {
        let sum = |of: fn(&RanLevel) -> u64| self.ran.levels.iter().map(of).fold(0, u64::saturating_add);
        (sum(|level| level.regions), sum(|level| level.subdivided + level.leaves))
    }

    /// A setting of the case.
    pub(super) fn set(&self, name: &str) -> Option<&str> {
        self.settings.iter().find(|(known, _)| known == name).map(|(_, value)| &value[..])
    }

    /// A setting of the case, as a number.
    pub(super) fn setting(&self, name: &str) -> Option<u64> {
        self.set(name)?.parse().ok()
    }

    /// The median in milliseconds.
    pub(super) fn ms(&self) -> String {
        four(self.median * 1e3)
    }

    /// The median absolute deviation in per cent of the median; a dash if it is not known.
    pub(super) fn deviation(&self) -> String {
        let share = |spread: &Spread| format!("{:.2}", spread.deviation / self.median * 100.0);
        self.spread.as_ref().map_or("-".into(), share)
    }

    /// {g, r, B}, and the block on a GPU.
    pub(super) fn configuration(&self) -> String {
        let block = self.ran.block.map_or(String::new(), |[x, y, z]| match z {
            1 => format!(", block {x}x{y}"),
            _ => format!(", block {x}x{y}x{z}"),
        });
        match self.is_exhaustive() {
            true => block.trim_start_matches(", ").to_owned(),
            false => format!("{}{block}", self.scheme()),
        }
    }

    /// {g, r, B}, with all axes where they differ.
    pub(super) fn scheme(&self) -> String {
        let [g, r, b] = [&self.ran.g, &self.ran.r, &self.ran.b].map(|numbers| per_axis::text(numbers));
        format!("{{{g}, {r}, {b}}}")
    }
}

/// The geometric mean of the axes.
fn mean(axes: &[u32]) -> u64 {
    match axes {
        [first, rest @ ..] if rest.iter().all(|number| number == first) => u64::from(*first),
        _ => axes.iter().map(|&n| f64::from(n)).product::<f64>().powf(1.0 / axes.len().max(1) as f64).round() as u64,
    }
}

/// Every value that `of` has, once, in order.
pub(super) fn distinct<'a, T: Ord>(facts: impl IntoIterator<Item = &'a Fact>, of: impl Fn(&'a Fact) -> T) -> Vec<T> {
    // There are few, and sorting is compiled for every T.
    let mut found = Vec::new();
    for value in facts.into_iter().map(of) {
        if let Err(place) = found.binary_search(&value) {
            found.insert(place, value);
        }
    }
    found
}

/// The fastest fact for every value of `of`.
pub(super) fn best<'a, T: Ord>(
    facts: impl IntoIterator<Item = &'a Fact>,
    of: impl Fn(&'a Fact) -> T,
) -> BTreeMap<T, &'a Fact> {
    least(facts, of, |fact| Some(fact.median))
}

/// The fact with the least cost for every value of `of`; those without a cost are left out.
pub(super) fn least<'a, T: Ord>(
    facts: impl IntoIterator<Item = &'a Fact>,
    of: impl Fn(&'a Fact) -> T,
    cost: impl Fn(&Fact) -> Option<f64>,
) -> BTreeMap<T, &'a Fact> {
    let mut least = BTreeMap::new();
    for fact in facts {
        let Some(own) = cost(fact) else { continue };
        let here = least.entry(of(fact)).or_insert(fact);
        if cost(here).is_some_and(|cost| own < cost) {
            *here = fact;
        }
    }
    least
}

/// What is computed, where, and how large it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Problem {
    pub(super) field: String,
    pub(super) place: String,
    pub(super) n: u64,
    /// 0 if the field has none.
    pub(super) dwell: u64,
}

/// The facts by problem.
pub(super) fn problems(facts: &[Fact]) -> BTreeMap<Problem, Vec<&Fact>> {
    let mut problems: BTreeMap<_, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        let problem = Problem { field: fact.field(), place: fact.place(), n: fact.n(), dwell: fact.dwell() };
        problems.entry(problem).or_default().push(fact);
    }
    problems
}

/// A number to four digits; a dash for none.
pub(super) fn four(value: f64) -> String {
    if !value.is_finite() {
        return "-".into();
    }
    if value != 0.0 && !(1e-4..1e9).contains(&value.abs()) {
        return format!("{value:.3e}");
    }
    let digits = (3.0 - value.abs().log10().floor()).clamp(0.0, 6.0) as usize;
    format!("{value:.digits$}")
}

/// The facts by subject.
pub(super) fn subjects(facts: &[Fact]) -> BTreeMap<String, Vec<&Fact>> {
    let mut subjects: BTreeMap<String, Vec<&Fact>> = BTreeMap::new();
    for fact in facts {
        subjects.entry(fact.subject()).or_default().push(fact);
    }
    subjects
}
