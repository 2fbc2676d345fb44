//! `orthant compare`: two result files of `bench`, case by case.

mod args;
mod pair;
mod rounds;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::row::{self, CaseTimes, Row};
use crate::bench::settings::{Case, Settings};
use crate::error::Error;
use crate::statistics::{mann_whitney, median, ratio_interval};
use crate::voice::{Voice, print};

pub(crate) use args::CompareOptions;

use pair::{Cells, Judgement, Pair, checksum, number};

/// The rows of a file by what must agree: a single one, or the rounds of a case in the order of the file.
type Rows = BTreeMap<String, Vec<Row<Cells>>>;

/// Everything that `--json` says.
#[derive(Debug, Serialize)]
struct Comparison {
    schema: u32,
    cases: Vec<Pair>,
    /// Keys that one file lacks.
    only_a: Vec<String>,
    only_b: Vec<String>,
    /// Of the ratios.
    geometric_mean: Option<f64>,
    /// How many cases have which verdict; with --rounds only.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdicts: Option<rounds::Verdicts>,
}

/// Compares two files; exit code 3 if B is slower than allowed.
pub(crate) fn compare(args: CompareOptions, voice: Voice) -> Result<(), Error> {
    let settings = Settings::new();
    let ignore = args.ignore.iter().map(|name| settings.name(name)).collect::<Result<Vec<_>, _>>();
    let ignore = ignore.map_err(|wrong| Error::Input(format!("--ignore: {wrong}")))?;
    let load = |path: &Path| load(path, &settings, &ignore, args.rounds);
    let (a, b) = (load(&args.a)?, load(&args.b)?);
    let comparison = pairs(&args, &a, &b)?;
    if comparison.cases.is_empty() {
        let (a, b) = (args.a.display(), args.b.display());
        return Err(Error::Input(format!(
            "{a} and {b} have no case in common; --ignore names settings that may differ"
        )));
    }
    if args.json {
        let text =
            serde_json::to_string(&comparison).map_err(|error| Error::System(format!("writing JSON: {error}")))?;
        print(format_args!("{text}\n"))?;
    } else {
        print(if args.rounds {
            rounds::markdown(&comparison.cases, comparison.geometric_mean)
        } else {
            markdown(&comparison, args.confidence)
        })?;
    }
    for (keys, path) in [(&comparison.only_a, &args.a), (&comparison.only_b, &args.b)] {
        if !keys.is_empty() {
            voice.say(format_args!("orthant: {} cases only in {}", keys.len(), path.display()));
        }
    }
    let left_out = a.len() - comparison.only_a.len() - comparison.cases.len();
    if args.rounds && left_out > 0 {
        voice.say(format_args!("orthant: {left_out} cases failed in every round of {}", args.a.display()));
    }
    let differ = comparison.cases.iter().filter(|pair| pair.cells_differ).count();
    if differ > 0 {
        voice.say(format_args!("orthant: the cells of {differ} cases differ"));
    }
    let Some(most) = args.fail_above else { return Ok(()) };
    let worse = |pair: &&Pair| match pair.verdict {
        Judgement::Slower => pair.ratio.is_some_and(|ratio| ratio > 1.0 + most),
        Judgement::Failed => true,
        Judgement::Faster | Judgement::Same => false,
    };
    let worse: Vec<&str> = comparison.cases.iter().filter(worse).map(|pair| pair.key.as_str()).collect();
    match worse[..] {
        [] => Ok(()),
        [first, ..] => Err(Error::Difference(format!(
            "--fail-above {}%: {} of {} cases are slower or failed, first {first}",
            most * 100.0,
            worse.len(),
            comparison.cases.len()
        ))),
    }
}

/// The rows of a file; several of a case only where they are `rounds`.
fn load(path: &Path, settings: &Settings, ignore: &[String], rounds: bool) -> Result<Rows, Error> {
    let key = |row: &Row<Cells>, ignore: &[String]| {
        // Other programs may have put the settings in another order.
        let mut case: Case = row.case.iter().filter(|(name, _)| !ignore.contains(name)).cloned().collect();
        settings.sort(&mut case);
        case.key()
    };
    let mut rows = Rows::new();
    for row in row::read::<Cells>(path)? {
        let known = rows.entry(key(&row, ignore)).or_default();
        // Rows that differ in what is ignored are cases of their own, not rounds of one.
        if known.first().is_some_and(|first| !rounds || key(first, &[]) != key(&row, &[])) {
            let hint = if ignore.is_empty() { "" } else { "; --ignore fewer settings" };
            return Err(Error::Input(format!("{}: two rows for '{}'{hint}", path.display(), key(&row, ignore))));
        }
        known.push(row);
    }
    Ok(rows)
}

fn pairs(args: &CompareOptions, a: &Rows, b: &Rows) -> Result<Comparison, Error> {
    let both = a.iter().filter_map(|(key, rows)| Some((key, rows, b.get(key)?)));
    // What failed before has nothing to be compared with.
    let cases = both.filter_map(|(key, a, b)| match args.rounds {
        true => rounds::pair(args, key, a, b).transpose(),
        false => pair(args, key, &a[0], &b[0]).map(Ok),
    });
    let cases = cases.collect::<Result<Vec<Pair>, Error>>()?;
    let missing = |from: &Rows, other: &Rows| from.keys().filter(|key| !other.contains_key(*key)).cloned().collect();
    let logarithms: Vec<f64> = cases.iter().filter_map(|pair| pair.ratio.map(f64::ln)).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    Ok(Comparison {
        schema: 1,
        verdicts: args.rounds.then(|| rounds::Verdicts::of(&cases)),
        cases,
        only_a: missing(a, b),
        only_b: missing(b, a),
        geometric_mean: (!logarithms.is_empty()).then(|| mean.exp()),
    })
}

fn pair(args: &CompareOptions, key: &str, a: &Row<Cells>, b: &Row<Cells>) -> Option<Pair> {
    let times_a = a.samples.as_ref()?;
    let failed = Pair {
        key: key.to_owned(),
        clock: "wall",
        median_a: Some(times_a.median),
        median_b: None,
        ratio: None,
        interval: None,
        p: None,
        verdict: Judgement::Failed,
        cells_differ: false,
        rounds: None,
        three_mad: None,
        threshold: None,
    };
    let Some(times_b) = &b.samples else { return Some(failed) };
    // A device's clock is compared with a device's clock or not at all.
    let device = !times_a.device.is_empty() && !times_b.device.is_empty();
    let of = |times: &CaseTimes| if device { times.device.clone() } else { times.wall.clone() };
    let (x, y) = (of(times_a), of(times_b));
    let (median_a, median_b, p) = (median(&x), median(&y), mann_whitney(&x, &y));
    let ratio = median_b / median_a;
    Some(Pair {
        clock: if device { "device" } else { "wall" },
        median_a: Some(median_a),
        median_b: Some(median_b),
        ratio: Some(ratio),
        interval: Some(ratio_interval(&x, &y, args.confidence, xxh3_64(key.as_bytes()))),
        p: Some(p),
        verdict: match p {
            _ if p >= args.alpha => Judgement::Same,
            _ if ratio > 1.0 => Judgement::Slower,
            _ if ratio < 1.0 => Judgement::Faster,
            _ => Judgement::Same,
        },
        cells_differ: matches!((checksum(a), checksum(b)), (Some(a), Some(b)) if a != b),
        ..failed
    })
}

/// A table that reads well as text too.
fn markdown(comparison: &Comparison, confidence: f64) -> String {
    let mut text = format!("| case | A ms | B ms | B / A | {} % interval | p | B is |\n", confidence * 100.0);
    text += "|---|--:|--:|--:|---|--:|---|\n";
    for pair in &comparison.cases {
        let interval = pair.interval.map_or("-".into(), |[low, high]| format!("{low:.3} to {high:.3}"));
        let verdict = pair.verdict.word();
        text += &format!(
            "| {} | {} | {} | {} | {interval} | {} | {verdict} |\n",
            pair.key.replace('|', "\\|"),
            number(pair.median_a, 1e3),
            number(pair.median_b, 1e3),
            number(pair.ratio, 1.0),
            pair.p.map_or("-".into(), |p| if p < 1e-4 { "< 0.0001".into() } else { format!("{p:.4}") }),
        );
    }
    if let Some(mean) = comparison.geometric_mean {
        text += &format!("\n{} cases, geometric mean of B / A {mean:.4}\n", comparison.cases.len());
    }
    text
}
