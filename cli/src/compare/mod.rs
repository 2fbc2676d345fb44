//! `orthant compare`: two result files of `bench`, case by case.

mod args;
mod pair;
mod rounds;

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

use crate::bench::ran::RanRow;
use crate::bench::row::{self, CaseTimes, Row};
use crate::bench::settings::{Apart, Case, Settings};
use crate::error::Error;
use crate::statistics::{least_p, mann_whitney, median, ratio_interval};
use crate::voice::{Voice, print};

pub(crate) use args::CompareOptions;

use pair::{Judgement, Pair, checksum, number};

/// The rows of a file by what must agree: a single one, or the rounds of a case in the order of the file.
type Rows = BTreeMap<Case, Vec<Row<RanRow>>>;

/// The least samples a side that ranks are taken of, however lenient `--alpha` is.
const RANKED: usize = 4;

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
        let apart = Apart::of(comparison.cases.iter().map(|pair| &pair.case));
        let shared = apart.shared(&comparison.cases[0].case);
        let above = if shared.is_empty() { shared } else { shared + "\n\n" };
        let table = if args.rounds {
            rounds::markdown(&comparison.cases, &apart, comparison.geometric_mean)
        } else {
            markdown(&comparison, &apart, args.confidence)
        };
        print(above + &table)?;
    }
    for (keys, path) in [(&comparison.only_a, &args.a), (&comparison.only_b, &args.b)] {
        if !keys.is_empty() {
            voice.say(format_args!("orthant: {} cases only in {}", keys.len(), path.display()));
        }
    }
    let left_out = a.len() - comparison.only_a.len() - comparison.cases.len();
    if left_out > 0 {
        voice.say(format_args!("orthant: {left_out} cases have no result in {}", args.a.display()));
    }
    let few = comparison.cases.iter().filter(|pair| pair.too_few()).count();
    if few > 0 {
        voice.say(format_args!(
            "orthant: too few samples for a rank test in {few} of {} cases (--alpha {}): the ratio of medians decides there, from {} % on",
            comparison.cases.len(),
            args.alpha,
            args.threshold * 100.0
        ));
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
        [] if !comparison.only_a.is_empty() => Err(Error::Difference(format!(
            "--fail-above: {} cases of {} are not in {}, first {}",
            comparison.only_a.len(),
            args.a.display(),
            args.b.display(),
            comparison.only_a[0]
        ))),
        [] => Ok(()),
        [first, ..] => Err(Error::Difference(format!(
            "--fail-above {}%: {} of {} cases are slower or failed, first {first}",
            // 7 %, not 7.000000000000001 %.
            (most * 100.0) as f32,
            worse.len(),
            comparison.cases.len()
        ))),
    }
}

/// The rows of a file; several of a case only where they are `rounds`.
fn load(path: &Path, settings: &Settings, ignore: &[String], rounds: bool) -> Result<Rows, Error> {
    let of = |row: &Row<RanRow>, ignore: &[String]| {
        // Other programs may have put the settings in another order.
        let mut case: Case = row.case.iter().filter(|(name, _)| !ignore.contains(name)).cloned().collect();
        settings.sort(&mut case);
        case
    };
    let mut rows = Rows::new();
    for row in row::read(path)? {
        let case = of(&row, ignore);
        let key = case.key();
        let known = rows.entry(case).or_default();
        // Rows that differ in what is ignored are cases of their own, not rounds of one.
        if known.first().is_some_and(|first| !rounds || of(first, &[]) != of(&row, &[])) {
            let hint = if ignore.is_empty() { "" } else { "; --ignore fewer settings" };
            return Err(Error::Input(format!("{}: two rows for '{key}'{hint}", path.display())));
        }
        known.push(row);
    }
    Ok(rows)
}

fn pairs(args: &CompareOptions, a: &Rows, b: &Rows) -> Result<Comparison, Error> {
    let both = a.iter().filter_map(|(case, rows)| Some((case, rows, b.get(case)?)));
    // What failed before has nothing to be compared with.
    let cases = both.filter_map(|(case, a, b)| match args.rounds {
        true => rounds::pair(args, case, a, b).transpose(),
        false => pair(args, case, &a[0], &b[0]).map(Ok),
    });
    let cases = cases.collect::<Result<Vec<Pair>, Error>>()?;
    let missing =
        |from: &Rows, other: &Rows| from.keys().filter(|case| !other.contains_key(case)).map(Case::key).collect();
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

fn pair(args: &CompareOptions, case: &Case, a: &Row<RanRow>, b: &Row<RanRow>) -> Option<Pair> {
    let times_a = a.samples.as_ref()?;
    let key = case.key();
    let failed = Pair {
        key: key.clone(),
        case: case.clone(),
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
    let (median_a, median_b) = (median(&x), median(&y));
    let ratio = median_b / median_a;
    // Where no order of the samples could be significant, silence would pass for sameness.
    let ranked = x.len().min(y.len()) >= RANKED && least_p(x.len(), y.len()) < args.alpha;
    let p = ranked.then(|| mann_whitney(&x, &y));
    let threshold = if ranked { 0.0 } else { args.threshold };
    Some(Pair {
        clock: if device { "device" } else { "wall" },
        median_a: Some(median_a),
        median_b: Some(median_b),
        ratio: Some(ratio),
        interval: Some(ratio_interval(&x, &y, args.confidence, xxh3_64(key.as_bytes()))),
        p,
        verdict: match p {
            Some(p) if p >= args.alpha => Judgement::Same,
            _ => Judgement::of(ratio, threshold),
        },
        threshold: (!ranked).then_some(threshold),
        cells_differ: matches!((checksum(a), checksum(b)), (Some(a), Some(b)) if a != b),
        ..failed
    })
}

/// A table that reads well as text too.
fn markdown(comparison: &Comparison, apart: &Apart, confidence: f64) -> String {
    let mut text = format!("| case | A ms | B ms | B / A | {} % interval | p | B is |\n", confidence * 100.0);
    text += "|---|--:|--:|--:|---|--:|---|\n";
    for pair in &comparison.cases {
        let interval = pair.interval.map_or("-".into(), |[low, high]| format!("{low:.3} to {high:.3}"));
        let verdict = pair.verdict.word();
        text += &format!(
            "| {} | {} | {} | {} | {interval} | {} | {verdict} |\n",
            apart.name(&pair.case).replace('|', "\\|"),
            number(pair.median_a, 1e3),
            number(pair.median_b, 1e3),
            number(pair.ratio, 1.0),
            match pair.p {
                Some(p) if p < 1e-4 => "< 0.0001".into(),
                Some(p) => format!("{p:.4}"),
                None => if pair.too_few() { "too few" } else { "-" }.into(),
            },
        );
    }
    if let Some(mean) = comparison.geometric_mean {
        text += &format!("\n{} cases, geometric mean of B / A {mean:.4}\n", comparison.cases.len());
    }
    text
}
