//! `orthant tree stats`: what each label has, or what measured values are like.

use std::collections::HashMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use orthant::choice::number;
use orthant::tree::{LabelStatistics, Parts, TreeAxis, TreeError, TreeFile, TreeInfo, TreeJob};

use super::measured;
use super::memory::MemoryOptions;
use super::numbers::{count, short, value};
use super::open::open;
use crate::error::Error;
use crate::escape;
use crate::options::CellKind;
use crate::voice::{Voice, align_right, print, table};

/// The most labels, unless somebody says how many.
const MOST: usize = 1 << 16;

/// Intervals of a histogram, unless somebody says how many.
const INTERVALS: u64 = 16;

/// Options of `tree stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// What cells are [default: labels, if they have names, or if there are at most 65536 and they look like labels; else values]
    #[arg(long)]
    kind: Option<CellKind>,
    /// Refuse more labels than this; cells are labels then
    #[arg(long, value_name = "LABELS", conflicts_with = "intervals")]
    most: Option<usize>,
    /// Intervals of the histogram [default: 16]; cells are values then
    #[arg(long, value_name = "N", value_parser = |text: &str| number(text, 1..=4096))]
    intervals: Option<u64>,
    /// A line of JSON per label, or one for all values
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Comma-separated values with a header
    #[arg(long)]
    csv: bool,
    #[command(flatten)]
    memory: MemoryOptions,
    #[arg(skip)]
    voice: Option<Voice>,
}

/// Prints what each label has, or what the values are like.
pub(super) fn stats(args: StatsOptions, voice: Voice) -> Result<(), Error> {
    open(&args.tree.clone(), StatsOptions { voice: Some(voice), ..args })
}

impl TreeJob for StatsOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        let (parts, info): (&dyn Parts<K>, _) = (&tree, tree.info());
        let kind = self.kind.or_else(|| {
            let labels = (self.most.is_some() || !info.labels.is_empty()).then_some(CellKind::Labels);
            self.intervals.map(|_| CellKind::Values).or(labels)
        });
        match (kind, self.most, self.intervals) {
            (Some(CellKind::Values), Some(_), _) => return Err(needless("most", "values")),
            (Some(CellKind::Labels), _, Some(_)) => return Err(needless("intervals", "labels")),
            _ => {}
        }
        let are_labels = match kind {
            Some(kind) => kind == CellKind::Labels,
            // What stands for other numbers is measured.
            None => info.scale.is_none() && parts.look_like_labels()?,
        };
        if are_labels {
            match parts.labels(self.most.unwrap_or(MOST)) {
                Ok(labels) => return self.print(&labels, &tree),
                Err(TreeError::Labels { .. }) if kind.is_none() => {}
                Err(error @ TreeError::Labels { .. }) => {
                    let option = self.most.map_or(String::new(), |most| format!("--most {most}: "));
                    let reason = format!("{option}{error}; --kind values says what measured values are like");
                    return Err(Error::Input(reason));
                }
                Err(error) => return Err(error.into()),
            }
        }
        let values = parts.values(self.intervals.unwrap_or(INTERVALS) as usize, info.nodata)?;
        let format = if self.json {
            measured::as_json
        } else if self.csv {
            measured::as_csv
        } else {
            measured::as_text
        };
        print(format(tree.kind(), info.scale, &values))
    }
}

/// An option that does nothing for cells of a kind.
fn needless(option: &'static str, kind: &str) -> Error {
    Error::Input(format!("--{option}: does nothing for {kind}; leave out")).about(&[option, "kind"])
}

impl StatsOptions {
    fn print<const K: usize>(&self, labels: &[LabelStatistics<K>], tree: &TreeFile<K>) -> Result<(), Error> {
        let (kind, info) = (tree.kind(), tree.info());
        let names: HashMap<u64, &str> = info.labels.iter().map(|label| (label.word, &*label.name)).collect();
        let lines = labels.iter().map(|label| Line {
            text: kind.text(label.word),
            value: value(kind, label.word),
            name: names.get(&label.word).copied().unwrap_or(""),
            cells: label.cells,
            share: label.share,
            regions: label.regions,
            leaves: label.leaves,
            corner: &label.bounds.corner,
            extent: &label.bounds.extent,
            place: place(&info.axes, &label.centroid),
            volume: info.axes.iter().map(|axis| axis.spacing.abs()).product::<f64>() * label.cells as f64,
        });
        let lines: Vec<_> = lines.collect();
        match (self.json, self.csv) {
            (true, _) => lines.iter().try_for_each(|line| print(format_args!("{}\n", line.as_json()))),
            (_, true) => print(as_csv(&lines, info)),
            _ => print(as_text(&lines, info)).map(|()| self.say_without_unit(&info.axes)),
        }
    }

    /// Says how cells get a size, where none is known.
    fn say_without_unit(&self, axes: &[TreeAxis]) {
        if let (None, Some(voice)) = (volume_column(axes), self.voice) {
            voice.say(
                "orthant: no unit is known, so that cells are counted; `orthant tree build --spacing 0.5mm` sets it",
            );
        }
    }
}

/// Where a centroid lies, in the units of the axes.
fn place(axes: &[TreeAxis], centroid: &[f64]) -> Vec<f64> {
    axes.iter().zip(centroid).map(|(axis, cells)| axis.origin + cells * axis.spacing).collect()
}

/// What is said of a label, whatever the number of dimensions.
struct Line<'s> {
    text: String,
    value: Value,
    name: &'s str,
    cells: u128,
    share: f64,
    regions: u64,
    leaves: u64,
    corner: &'s [u32],
    extent: &'s [u32],
    place: Vec<f64>,
    volume: f64,
}

impl Line<'_> {
    fn as_json(&self) -> Value {
        json!({
            "value": self.value,
            "name": Some(self.name).filter(|name| !name.is_empty()),
            "cells": count(self.cells),
            "share": self.share,
            "volume": self.volume,
            "centroid": self.place,
            "corner": self.corner,
            "extent": self.extent,
            "regions": self.regions,
            "leaves": self.leaves,
        })
    }
}

/// A table: what people ask first. Regions, leaves and boxes are in the other forms.
fn as_text(lines: &[Line<'_>], info: &TreeInfo) -> String {
    let (volume, names) = (volume_column(&info.axes), !info.labels.is_empty());
    let axes: Vec<_> = info.axes.iter().map(|axis| format!("mean {}", escape::line(&with_unit(axis)))).collect();
    let mut header = vec!["value", "cells", "share"];
    header.extend(volume.as_deref());
    header.extend(axes.iter().map(String::as_str));
    header.extend(names.then_some("name"));
    let mut rows = table(&header);
    for line in lines {
        let mut row = vec![line.text.clone(), line.cells.to_string(), format!("{:.3} %", line.share * 100.0)];
        row.extend(volume.is_some().then(|| short(line.volume)));
        row.extend(line.place.iter().map(|&place| short(place)));
        row.extend(names.then(|| escape::line(line.name)));
        rows.add_row(row);
    }
    align_right(&mut rows);
    let turned = info.directions.as_ref().map_or(String::new(), |directions| {
        let axes = info.axes.iter().zip(directions).map(|(axis, parts)| {
            let parts: Vec<_> = parts.iter().map(|&part| short(part)).collect();
            format!("{} ({})", escape::line(&axis.name), parts.join(", "))
        });
        format!(
            "places are along the file's axes, which point elsewhere in its space: {}\n",
            axes.collect::<Vec<_>>().join(", ")
        )
    });
    format!("{}\n{turned}", rows.trim_fmt())
}

/// All that is known, a line per label.
fn as_csv(lines: &[Line<'_>], info: &TreeInfo) -> String {
    let columns = |what: &str| {
        info.axes.iter().map(|axis| format!(",{}", quoted(&format!("{what}_{}", axis.name)))).collect::<String>()
    };
    let quoted_name = |name: &str| quoted(name);
    let mut text = format!(
        "value,name,cells,share,volume{}{}{},regions,leaves\n",
        columns("mean"),
        columns("corner"),
        columns("extent")
    );
    for line in lines {
        let numbers = |numbers: &[u32]| numbers.iter().map(|number| format!(",{number}")).collect::<String>();
        let places: String = line.place.iter().map(|place| format!(",{place}")).collect();
        let (name, corner, extent) = (quoted_name(line.name), numbers(line.corner), numbers(line.extent));
        let Line { text: value, cells, share, volume, regions, leaves, .. } = line;
        text += &format!("{value},{name},{cells},{share},{volume}{places}{corner}{extent},{regions},{leaves}\n");
    }
    text
}

/// A field of a line, in quotes if it needs them (RFC 4180).
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

fn with_unit(axis: &TreeAxis) -> String {
    axis.unit.as_ref().map_or_else(|| axis.name.clone(), |unit| format!("{} ({unit})", axis.name))
}

/// What the column of volumes is called; None if a volume is the number of cells, in no unit.
fn volume_column(axes: &[TreeAxis]) -> Option<String> {
    let scaled = axes.iter().any(|axis| axis.unit.is_some() || axis.spacing.abs() != 1.0);
    volume_unit(axes).map(|unit| format!("volume {unit}")).or(scaled.then(|| "volume".into()))
}

/// The unit of a volume, such as mm³ or µm²·s; None unless every axis has a unit.
fn volume_unit(axes: &[TreeAxis]) -> Option<String> {
    if axes.iter().any(|axis| axis.unit.is_none()) {
        return None;
    }
    let mut units: Vec<(&str, usize)> = Vec::new();
    for unit in axes.iter().filter_map(|axis| axis.unit.as_deref()) {
        match units.iter_mut().find(|known| known.0 == unit) {
            Some(known) => known.1 += 1,
            None => units.push((unit, 1)),
        }
    }
    const POWERS: [&str; 9] = ["", "", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸"];
    let unit = |&(unit, power): &(&str, usize)| format!("{}{}", escape::line(unit), POWERS[power]);
    Some(units.iter().map(unit).collect::<Vec<_>>().join("·"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volumes_have_the_units_of_the_axes() {
        let axis = |unit: &str| TreeAxis {
            name: "a".into(),
            unit: Some(unit.into()).filter(|unit: &String| !unit.is_empty()),
            spacing: 1.0,
            origin: 0.0,
        };
        for (units, expected) in [
            (&["mm", "mm", "mm"][..], Some("mm³")),
            (&["µm", "µm", "s"], Some("µm²·s")),
            (&["", "", "mm"], None),
            (&["", ""], None),
        ] {
            let axes: Vec<_> = units.iter().map(|unit| axis(unit)).collect();
            assert_eq!(volume_unit(&axes).as_deref(), expected);
        }
    }
}
