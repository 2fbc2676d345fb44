//! Interleaved rounds: the same cases measured by turns with two programs.
//!
//! What drifts from minute to minute is much the same for the two rows of a round, so their ratio is free of it. How far
//! the ratios of the rounds scatter tells which differences can be seen at all.

use serde::Serialize;

use super::args::CompareOptions;
use super::pair::{Judgement, Pair, checksum, number};
use crate::bench::ran::RanRow;
use crate::bench::row::{CaseTimes, Row};
use crate::bench::settings::{Apart, Case};
use crate::error::Error;
use crate::statistics::{median, median_absolute_deviation};

/// How many cases have which verdict.
#[derive(Debug, Default, Serialize)]
pub(super) struct Verdicts {
    slower: usize,
    faster: usize,
    same: usize,
    failed: usize,
}

impl Verdicts {
    pub(super) fn of(cases: &[Pair]) -> Self {
        let mut verdicts = Self::default();
        for pair in cases {
            *match pair.verdict {
                Judgement::Slower => &mut verdicts.slower,
                Judgement::Faster => &mut verdicts.faster,
                Judgement::Same => &mut verdicts.same,
                Judgement::Failed => &mut verdicts.failed,
            } += 1;
        }
        verdicts
    }
}

/// The times of a round; None if it failed.
fn times(row: &Row<RanRow>) -> Option<&CaseTimes> {
    row.samples.as_ref()
}

/// Compares the rounds of one case; None if A has no result in any.
///
/// # Errors
/// [`Error::Input`] names the case, the file and the rounds that it lacks.
pub(super) fn pair(
    args: &CompareOptions,
    case: &Case,
    a: &[Row<RanRow>],
    b: &[Row<RanRow>],
) -> Result<Option<Pair>, Error> {
    let key = case.key();
    let (path_a, path_b) = (args.a.display(), args.b.display());
    // Which one is missing is not known, so that no round has a sure counterpart.
    if a.len() != b.len() {
        let (in_a, in_b) = (a.len(), b.len());
        return Err(Error::Input(format!(
            "--rounds: '{key}' has {in_a} rounds in {path_a}, but {in_b} in {path_b}; both need the same number"
        )));
    }
    let rounds = a.len();
    if !a.iter().any(|row| times(row).is_some()) {
        return Ok(None);
    }
    if let Some(failed) = a.iter().position(|row| times(row).is_none()) {
        return Err(Error::Input(format!(
            "--rounds: '{key}' failed in round {} of {rounds} in {path_a}; measure it again",
            failed + 1
        )));
    }
    // One clock for all rounds.
    let device = a.iter().chain(b).filter_map(times).all(|times| !times.device.is_empty());
    let middle = |times: &CaseTimes| median(if device { &times.device } else { &times.wall });
    let medians = |rows: &[Row<RanRow>]| rows.iter().filter_map(times).map(middle).collect::<Vec<f64>>();
    let (x, y) = (medians(a), medians(b));
    let failed = Pair {
        key,
        case: case.clone(),
        clock: if device { "device" } else { "wall" },
        median_a: Some(median(&x)),
        median_b: None,
        ratio: None,
        interval: None,
        p: None,
        verdict: Judgement::Failed,
        cells_differ: false,
        rounds: Some(rounds),
        three_mad: None,
        threshold: None,
    };
    // B failed even if that was in a single round.
    if y.len() < rounds {
        return Ok(Some(failed));
    }
    let ratios: Vec<f64> = x.iter().zip(&y).map(|(a, b)| b / a).collect();
    let (ratio, three_mad) = (median(&ratios), 3.0 * median_absolute_deviation(&ratios));
    let threshold = args.threshold.max(three_mad);
    let checksums = |rows| <[Row<RanRow>]>::iter(rows).filter_map(checksum);
    Ok(Some(Pair {
        median_b: Some(median(&y)),
        ratio: Some(ratio),
        verdict: Judgement::of(ratio, threshold),
        cells_differ: checksums(a).any(|a| checksums(b).any(|b| a != b)),
        three_mad: Some(three_mad),
        threshold: Some(threshold),
        ..failed
    }))
}

/// A table that reads well as text too.
pub(super) fn markdown(cases: &[Pair], apart: &Apart, geometric_mean: Option<f64>) -> String {
    let mut text = String::from("| case | rounds | A ms | B ms | B / A | 3 MAD | threshold | B is |\n");
    text += "|---|--:|--:|--:|--:|--:|--:|---|\n";
    let percent = |share: Option<f64>| share.map_or("-".into(), |share| format!("{:.2} %", share * 100.0));
    for pair in cases {
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            apart.name(&pair.case).replace('|', "\\|"),
            pair.rounds.unwrap_or_default(),
            number(pair.median_a, 1e3),
            number(pair.median_b, 1e3),
            number(pair.ratio, 1.0),
            percent(pair.three_mad),
            percent(pair.threshold),
            pair.verdict.word(),
        );
    }
    let Verdicts { slower, faster, same, failed } = Verdicts::of(cases);
    let (cases, mean) = (cases.len(), number(geometric_mean, 1.0));
    text +=
        &format!("\n{cases} cases, geometric mean of B / A {mean}, slower {slower}, faster {faster}, the same {same}");
    if failed > 0 {
        text += &format!(", failed {failed}");
    }
    text + "\n"
}
