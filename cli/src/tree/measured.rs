//! Measured values of a tree, as text, CSV and JSON.

use serde_json::json;

use orthant::CellType;
use orthant::tree::{Scale, ValueStatistics};

use super::numbers::{count, short, value};

/// Characters of the longest bar of a histogram.
const BAR: usize = 40;

/// What a number of a cell stands for.
fn scaled(scale: Option<Scale>, number: f64) -> f64 {
    scale.map_or(number, |Scale { slope, intercept }| number * slope + intercept)
}

/// The ends of each interval, and its cells.
fn intervals(scale: Option<Scale>, values: &ValueStatistics) -> impl Iterator<Item = ([f64; 2], u128)> {
    let ([low, high], number) = (values.range, values.histogram.len() as f64);
    // Not by the range, which can be larger than the largest double.
    let end = move |interval: usize| {
        let part = interval as f64 / number;
        scaled(scale, low * (1.0 - part) + high * part)
    };
    let found = values.histogram.iter().enumerate().map(move |(i, &cells)| ([end(i), end(i + 1)], cells));
    let mut found: Vec<_> = found.collect();
    // What a cell stands for falls where the slope is below 0.
    if scale.is_some_and(|scale| scale.slope < 0.0) {
        found.reverse();
        found.iter_mut().for_each(|(ends, _)| ends.reverse());
    }
    found.into_iter()
}

/// Numbers in lines, then the histogram as bars.
pub(super) fn as_text(kind: CellType, scale: Option<Scale>, values: &ValueStatistics) -> String {
    let end = |word: Option<u64>| word.map_or("none".into(), |word| short(scaled(scale, kind.number(word))));
    let mut text = format!("{:10} {}\n", "cells", values.cells);
    for (name, cells) in [("NaN", values.nan), ("no data", values.nodata)] {
        if cells > 0 {
            text += &format!("{name:10} {cells} cells beside them\n");
        }
    }
    let falls = scale.is_some_and(|scale| scale.slope < 0.0);
    let [least, greatest] = if falls { [values.greatest, values.least] } else { [values.least, values.greatest] };
    text += &format!("{:10} {}\n{:10} {}\n", "least", end(least), "greatest", end(greatest));
    if values.range[0] > values.range[1] {
        return text;
    }
    let deviation = values.deviation * scale.map_or(1.0, |scale| scale.slope.abs());
    text += &format!("{:10} {}\n{:10} {}\n", "mean", short(scaled(scale, values.mean)), "deviation", short(deviation));
    if let Some(Scale { slope, intercept }) = scale {
        text += &format!("{:10} {slope} times the cell plus {intercept}\n", "scale");
    }
    let most = values.histogram.iter().max().copied().unwrap_or(1).max(1);
    text += "\n";
    for ([from, to], cells) in intervals(scale, values) {
        // A bar for every interval that has cells, however few.
        let bar = (cells as f64 / most as f64 * BAR as f64).ceil() as usize;
        text += &format!("{:>12} to {:<12} {cells:>12} {}\n", short(from), short(to), "#".repeat(bar));
    }
    text
}

/// The histogram: an interval per line.
pub(super) fn as_csv(_: CellType, scale: Option<Scale>, values: &ValueStatistics) -> String {
    let line = |([from, to], cells): ([f64; 2], u128)| format!("{from},{to},{cells}\n");
    std::iter::once("from,to,cells\n".to_owned()).chain(intervals(scale, values).map(line)).collect()
}

/// Everything, in one line. Numbers are those of cells; `scale` says what they stand for.
pub(super) fn as_json(kind: CellType, scale: Option<Scale>, values: &ValueStatistics) -> String {
    let any = values.range[0] <= values.range[1];
    let finite = |number: f64| any.then_some(number);
    let object = json!({
        "cells": count(values.cells),
        "nan": count(values.nan),
        "nodata": count(values.nodata),
        "least": values.least.map(|word| value(kind, word)),
        "greatest": values.greatest.map(|word| value(kind, word)),
        "mean": finite(values.mean),
        "deviation": finite(values.deviation),
        "scale": scale,
        "range": any.then_some(values.range),
        "histogram": values.histogram.iter().map(|&cells| count(cells)).collect::<Vec<_>>(),
    });
    format!("{object}\n")
}
