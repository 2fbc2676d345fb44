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

/// The table; without rows where no field was divided along two curves.
pub(super) fn table(facts: &[Fact], localities: &[CurveRow]) -> ShownTable {
    let rows = compared(facts).into_iter().flat_map(|Compared { subject, by }| {
        let least = by.values().map(|fact| fact.median).fold(f64::INFINITY, f64::min);
        let row = move |(curve, fact): (String, &Fact)| {
            let known = |of: fn(&CurveRow) -> f64| {
                let same =
                    |row: &&CurveRow| (&row.workload, row.k, &row.curve) == (&fact.ran.workload, fact.ran.k, &curve);
                localities.iter().rfind(same).map_or("-".into(), |row| format!("{:.2}", of(row)))
            };
            vec![
                fact.ms(),
                fact.deviation(),
                four(fact.median / least),
                fact.ran.k.to_string(),
                curve.clone(),
                fact.ran.peak_olt_bytes.to_string(),
                known(|row| row.mean_step),
                known(|row| row.cut_faces),
                known(|row| row.lines),
                fact.n().to_string(),
                fact.scheme(),
                subject.clone(),
            ]
        };
        by.into_iter().map(row).collect::<Vec<_>>()
    });
    ShownTable::new(
        "Curves as encodings of the tables",
        "Ask along each curve at the greatest size that all of them have: its time over that of the fastest curve, and the bytes of the largest tables. Of the largest table, where `curves compare` was given: the mean step from one region to the next, and per chunk of 32 regions the faces that it shares with others and the cache lines that it touches.",
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
    let curve = |(curve, (lost, k, n)): (&&str, &(f64, usize, u64))| match *lost > 1.0 {
        false => format!("{curve} was always the fastest"),
        true => format!("{curve} took up to {} % more than the fastest (k = {k}, n = {n})", four((lost - 1.0) * 100.0)),
    };
    let lost: Vec<String> = worst.iter().map(curve).collect();
    let won: Vec<String> = wins.iter().map(|(curve, wins)| format!("{curve} {wins}")).collect();
    let fields = if all.len() == 1 { "one field".into() } else { format!("{} fields", all.len()) };
    Some(format!("Curves, over {fields} at the greatest size: fastest were {}; {}.", won.join(", "), lost.join(", ")))
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
