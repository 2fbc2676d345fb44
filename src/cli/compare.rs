//! `orthant compare`: two result files of `bench`, case by case.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use super::bench::row::{self, Row, Times};
use super::bench::settings::{Case, Settings};
use super::{Voice, print};
use crate::error::Error;
use crate::statistics::{mann_whitney, median, ratio_interval};

/// Options of `compare`.
#[derive(Debug, Args)]
pub struct Compare {
    /// The rows to compare with
    #[arg(value_name = "A.jsonl")]
    pub a: PathBuf,
    /// The rows to compare
    #[arg(value_name = "B.jsonl")]
    pub b: PathBuf,
    /// Settings that need not agree, as strategy,curve: to compare cases that differ in them
    #[arg(long, value_delimiter = ',', value_name = "SETTINGS")]
    pub ignore: Vec<String>,
    /// Exit with 3 if a case of B is slower by more than this, as 5%, with significance
    #[arg(long, value_parser = percent, value_name = "PERCENT", env = "ORTHANT_FAIL_ABOVE")]
    pub fail_above: Option<f64>,
    /// The probability of calling equal times different
    #[arg(long, default_value_t = 0.01, value_parser = share, value_name = "SHARE", env = "ORTHANT_ALPHA")]
    pub alpha: f64,
    /// The probability with which intervals hold the ratio
    #[arg(long, default_value_t = 0.95, value_parser = share, value_name = "SHARE", env = "ORTHANT_CONFIDENCE")]
    pub confidence: f64,
    /// One JSON object instead of the table
    #[arg(long)]
    pub json: bool,
}

/// `5%` or `5`, as a share.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim();
    match number.parse::<f64>() {
        Ok(percent) if percent >= 0.0 && percent.is_finite() => Ok(percent / 100.0),
        _ => Err(format!("'{text}' is not a percentage of at least 0, as 5%")),
    }
}

/// A number between 0 and 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if 0.0 < share && share < 1.0 => Ok(share),
        _ => Err(format!("'{text}' is not a number between 0 and 1")),
    }
}

/// What is read of a run.
#[derive(Debug, Deserialize)]
struct Cells {
    checksum: Option<String>,
}

/// How B stands to A.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Faster,
    Slower,
    Same,
    /// Only A has a result.
    Failed,
}

/// One case in both files.
#[derive(Debug, Serialize)]
struct Pair {
    key: String,
    /// Which times are compared.
    clock: &'static str,
    /// Seconds.
    median_a: Option<f64>,
    median_b: Option<f64>,
    /// B over A.
    ratio: Option<f64>,
    interval: Option<[f64; 2]>,
    /// Of times as different as these if there were no difference.
    p: Option<f64>,
    verdict: Verdict,
    /// True if both have a checksum and these differ.
    cells_differ: bool,
}

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
}

/// Compares two files; exit code 3 if B is slower than allowed.
pub(super) fn compare(args: Compare, voice: Voice) -> Result<(), Error> {
    let settings = Settings::new();
    let ignore = args.ignore.iter().map(|name| settings.name(name)).collect::<Result<Vec<_>, _>>();
    let ignore = ignore.map_err(|wrong| Error::Input(format!("--ignore: {wrong}")))?;
    let (a, b) = (load(&args.a, &settings, &ignore)?, load(&args.b, &settings, &ignore)?);
    let comparison = pairs(&args, &a, &b);
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
        print(markdown(&comparison, args.confidence))?;
    }
    for (keys, path) in [(&comparison.only_a, &args.a), (&comparison.only_b, &args.b)] {
        if !keys.is_empty() {
            voice.say(format_args!("orthant: {} cases only in {}", keys.len(), path.display()));
        }
    }
    let differ = comparison.cases.iter().filter(|pair| pair.cells_differ).count();
    if differ > 0 {
        voice.say(format_args!("orthant: the cells of {differ} cases differ"));
    }
    let Some(most) = args.fail_above else { return Ok(()) };
    let worse = |pair: &&Pair| match pair.verdict {
        Verdict::Slower => pair.ratio.is_some_and(|ratio| ratio > 1.0 + most),
        Verdict::Failed => true,
        Verdict::Faster | Verdict::Same => false,
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

/// The rows of a file by what must agree.
fn load(path: &Path, settings: &Settings, ignore: &[String]) -> Result<BTreeMap<String, Row<Cells>>, Error> {
    let mut rows = BTreeMap::new();
    for row in row::read::<Cells>(path)? {
        // Other programs may have put the settings in another order.
        let mut case: Case = row.case.iter().filter(|(name, _)| !ignore.contains(name)).cloned().collect();
        settings.sort(&mut case);
        let key = case.key();
        if rows.contains_key(&key) {
            let hint = if ignore.is_empty() { "" } else { "; --ignore fewer settings" };
            return Err(Error::Input(format!("{}: two rows for '{key}'{hint}", path.display())));
        }
        rows.insert(key, row);
    }
    Ok(rows)
}

fn pairs(args: &Compare, a: &BTreeMap<String, Row<Cells>>, b: &BTreeMap<String, Row<Cells>>) -> Comparison {
    let both = a.iter().filter_map(|(key, row)| Some((key, row, b.get(key)?)));
    // What failed before has nothing to be compared with.
    let cases: Vec<Pair> = both.filter_map(|(key, a, b)| pair(args, key, a, b)).collect();
    let missing = |from: &BTreeMap<String, _>, other: &BTreeMap<String, Row<Cells>>| {
        from.keys().filter(|key| !other.contains_key(*key)).cloned().collect()
    };
    let logarithms: Vec<f64> = cases.iter().filter_map(|pair| pair.ratio.map(f64::ln)).collect();
    let mean = logarithms.iter().sum::<f64>() / logarithms.len() as f64;
    Comparison {
        schema: 1,
        cases,
        only_a: missing(a, b),
        only_b: missing(b, a),
        geometric_mean: (!logarithms.is_empty()).then(|| mean.exp()),
    }
}

fn pair(args: &Compare, key: &str, a: &Row<Cells>, b: &Row<Cells>) -> Option<Pair> {
    let times_a = a.samples.as_ref()?;
    let failed = Pair {
        key: key.to_owned(),
        clock: "wall",
        median_a: Some(times_a.median),
        median_b: None,
        ratio: None,
        interval: None,
        p: None,
        verdict: Verdict::Failed,
        cells_differ: false,
    };
    let Some(times_b) = &b.samples else { return Some(failed) };
    // A device's clock is compared with a device's clock or not at all.
    let device = !times_a.device.is_empty() && !times_b.device.is_empty();
    let of = |times: &Times| if device { times.device.clone() } else { times.wall.clone() };
    let (x, y) = (of(times_a), of(times_b));
    let (median_a, median_b, p) = (median(&x), median(&y), mann_whitney(&x, &y));
    let ratio = median_b / median_a;
    let checksum = |row: &Row<Cells>| row.run.as_ref().and_then(|run| run.checksum.clone());
    Some(Pair {
        clock: if device { "device" } else { "wall" },
        median_a: Some(median_a),
        median_b: Some(median_b),
        ratio: Some(ratio),
        interval: Some(ratio_interval(&x, &y, args.confidence, xxh3_64(key.as_bytes()))),
        p: Some(p),
        verdict: match p {
            _ if p >= args.alpha => Verdict::Same,
            _ if ratio > 1.0 => Verdict::Slower,
            _ if ratio < 1.0 => Verdict::Faster,
            _ => Verdict::Same,
        },
        cells_differ: matches!((checksum(a), checksum(b)), (Some(a), Some(b)) if a != b),
        ..failed
    })
}

/// A table that reads well as text too.
fn markdown(comparison: &Comparison, confidence: f64) -> String {
    let mut text = format!("| case | A ms | B ms | B / A | {} % interval | p | B is |\n", confidence * 100.0);
    text += "|---|--:|--:|--:|---|--:|---|\n";
    let number = |value: Option<f64>, scale: f64| value.map_or("-".into(), |value| format!("{:.4}", value * scale));
    for pair in &comparison.cases {
        let interval = pair.interval.map_or("-".into(), |[low, high]| format!("{low:.3} to {high:.3}"));
        let verdict = match pair.verdict {
            Verdict::Faster => "faster",
            Verdict::Slower => "**slower**",
            Verdict::Same => "the same",
            Verdict::Failed => "**failed**",
        };
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
