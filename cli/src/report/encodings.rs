//! Curves as encodings of tables: a row per number of dimensions and curve, and the sentence that compares them.

use std::collections::BTreeMap;
use std::path::Path;

use crate::curves::CurveRow;
use crate::error::Error;
use crate::report::facts::{Fact, best, distinct, four};
use crate::report::tables::ShownTable;

/// The fastest run of ask by each curve, at the greatest size that all curves of a field and machine have.
struct Compared<'a> {
    subject: String,
    by: BTreeMap<String, &'a Fact>,
}

fn compared(facts: &[Fact]) -> Vec<Compared<'_>> {
    let codes = |fact: &&Fact| fact.ran.strategy == "ask" && fact.ran.table.as_deref() != Some("coordinates");
    let mut subjects: BTreeMap<(usize, String), Vec<&Fact>> = BTreeMap::new();
    for fact in facts.iter().filter(codes) {
        subjects.entry((fact.ran.k, fact.subject())).or_default().push(fact);
    }
    subjects.into_iter().filter_map(|((_, subject), facts)| Compared::of(subject, &facts)).collect()
}

impl<'a> Compared<'a> {
    fn of(subject: String, facts: &[&'a Fact]) -> Option<Self> {
        let curves = distinct(facts.iter().copied(), |fact| fact.ran.curve.clone());
        let at = |n: u64, dwell: u64| {
            let here = facts.iter().copied().filter(move |fact| (fact.n(), fact.dwell()) == (n, dwell));
            best(here, |fact| fact.ran.curve.clone())
        };
        let sizes = distinct(facts.iter().copied(), |fact| (fact.n(), fact.dwell()));
        let by = sizes.into_iter().rev().map(|(n, dwell)| at(n, dwell)).find(|by| by.len() == curves.len())?;
        (by.len() > 1).then_some(Self { subject, by })
    }
}

/// True if the locality is that of a row's field and curve.
pub(super) fn fits(row: &CurveRow, fact: &Fact) -> bool {
    (&row.workload, row.k, &row.curve) == (&fact.ran.workload, fact.ran.k, &fact.ran.curve)
        && row.text.as_deref() == fact.set("text")
}

/// The table; without rows where no field was divided along two curves.
pub(super) fn table(facts: &[Fact], localities: &[CurveRow]) -> ShownTable {
    let rows = compared(facts).into_iter().flat_map(|Compared { subject, by }| {
        let least = by.values().map(|fact| fact.median).fold(f64::INFINITY, f64::min);
        let row = move |(curve, fact): (String, &Fact)| {
            let known =
                |of: fn(&CurveRow) -> String| localities.iter().rfind(|row| fits(row, fact)).map_or("-".into(), of);
            vec![
                fact.ms(),
                fact.deviation(),
                four(fact.median / least),
                fact.ran.k.to_string(),
                curve.clone(),
                fact.ran.peak_olt_bytes.to_string(),
                known(|row| format!("{:.2}", row.mean_step)),
                known(|row| format!("{:.2}", row.cut_faces)),
                known(|row| format!("{:.2}", row.lines)),
                known(CurveRow::n),
                fact.n().to_string(),
                fact.scheme(),
                subject.clone(),
            ]
        };
        by.into_iter().map(row).collect::<Vec<_>>()
    });
    ShownTable::new(
        "Curves as encodings of the tables",
        "Ask along each curve at the greatest size that all of them have: its time over that of the fastest curve, and the bytes of the largest tables. Of the largest table of a run of *of n* cells per axis, where `curves compare` was given: the mean step from one region to the next, and per chunk of 32 regions the faces that it shares with others and the cache lines that it touches.",
        &[
            "#ms",
            "#± %",
            "#over the fastest",
            "#k",
            "curve",
            "#bytes",
            "#mean step",
            "#cut faces",
            "#lines",
            "of n",
            "#n",
            "{g, r, B}",
            "field",
        ],
        rows.collect(),
    )
}

/// What the curves cost, in one sentence; None where no field was divided along two of them.
pub(super) fn sentence(facts: &[Fact]) -> Option<String> {
    let all = compared(facts);
    let mut wins: BTreeMap<&str, usize> = BTreeMap::new();
    let mut worst: BTreeMap<&str, (f64, usize, u64)> = BTreeMap::new();
    for Compared { by, .. } in &all {
        let (fastest, least) = by.iter().min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))?;
        *wins.entry(fastest).or_default() += 1;
        for (curve, fact) in by {
            let lost = (fact.median / least.median, fact.ran.k, fact.n());
            let worst = worst.entry(curve).or_insert(lost);
            if lost.0 > worst.0 {
                *worst = lost;
            }
        }
    }
    if all.is_empty() {
        return None;
    }
    let won: Vec<String> =
        wins.iter().map(|(curve, wins)| format!("{curve} was the fastest in {wins} of {} fields", all.len())).collect();
    let mut lost: Vec<_> = worst.iter().filter(|(_, (lost, ..))| *lost > 1.0).collect();
    lost.sort_by(|(_, a), (_, b)| b.0.total_cmp(&a.0));
    let loses = |(place, (curve, (lost, k, n))): (usize, &(&&str, &(f64, usize, u64)))| {
        let than = if place == 0 { " more than the fastest" } else { "" };
        let takes = if place == 0 { "takes " } else { "" };
        format!("{curve} {takes}{} %{than} (k = {k}, n = {n})", two((lost - 1.0) * 100.0))
    };
    let lost: Vec<String> = lost.iter().enumerate().map(loses).collect();
    let worst = if lost.is_empty() { String::new() } else { format!("; at worst {}", lost.join(" and ")) };
    Some(format!("Of the curves {}, each at its greatest size{worst}.", won.join(", ")))
}

/// A share to two digits.
fn two(percent: f64) -> String {
    if percent >= 10.0 { format!("{percent:.0}") } else { format!("{percent:.1}").trim_end_matches(".0").to_owned() }
}

/// The lines of `curves compare --json` in files.
///
/// # Errors
/// [`Error::File`]; [`Error::Input`] names the file and the line.
pub(super) fn localities(paths: &[impl AsRef<Path>]) -> Result<Vec<CurveRow>, Error> {
    let mut rows = Vec::new();
    for path in paths {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
        for (i, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            rows.push(serde_json::from_str(line).map_err(|error| {
                let what = "not a line of `orthant curves compare --json`";
                Error::Input(format!("--curves {}: line {}: {what}: {error}", path.display(), i + 1)).about(&["curves"])
            })?);
        }
    }
    Ok(rows)
}
