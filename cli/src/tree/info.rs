//! `orthant tree info`: what a tree is.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;

use orthant::curve::CurveKind;
use orthant::per_axis::{shortest, text as by};
use orthant::rule::RuleKind;
use orthant::tree::{Scale, TreeFile, TreeInfo, TreeJob};
use orthant::{Bytes, CellType};

use super::numbers::value;
use super::open::open;
use crate::error::Error;
use crate::escape;
use crate::output::tree::bytes_of;
use crate::voice::{print, table};

/// Options of `tree info`.
#[derive(Debug, Args)]
pub(crate) struct InfoOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// One object of JSON
    #[arg(long)]
    json: bool,
}

/// Prints what a tree is.
pub(super) fn info(args: InfoOptions) -> Result<(), Error> {
    open(&args.tree.clone(), args)
}

impl TreeJob for InfoOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let (plan, scheme) = (tree.plan(), tree.plan().scheme());
        let in_folder = || bytes_of(&self.tree).map_err(|source| Error::File { path: self.tree.clone(), source });
        let stored = match tree.zip_bytes()? {
            Some(bytes) => Some(bytes),
            // No list says what a folder of a server has.
            None if tree.is_remote() => None,
            None => Some(in_folder()?),
        };
        self.print(&TreeFacts {
            size: &plan.domain().size(),
            window: &plan.domain().window(),
            cells: plan.domain().cells(),
            scheme: [&scheme.g, &scheme.r, &scheme.b],
            curve: plan.curve(),
            rule: plan.rule(),
            kind: tree.kind(),
            about: tree.info(),
            terminals: tree.terminals(),
            leaf_cells: tree.leaf_cells(),
            list: tree.layout().map(|layout| (layout.background(), layout.most())),
            shards: tree.shards(),
            stored,
            checksum: tree.checksum().to_string(),
        })
    }
}

/// What is said of a tree, whatever its number of dimensions.
struct TreeFacts<'t> {
    size: &'t [u32],
    window: &'t [[f64; 2]],
    cells: u128,
    /// g, r and B.
    scheme: [&'t [u32]; 3],
    curve: CurveKind,
    rule: RuleKind,
    kind: CellType,
    about: &'t TreeInfo,
    terminals: &'t [[u64; 2]],
    /// Of the tree of a list the entries of its leaves.
    leaf_cells: u64,
    /// Of the tree of a list the word of other cells, and the entries at which division stops.
    list: Option<(u64, u64)>,
    shards: u64,
    /// Bytes of its files, if they are known.
    stored: Option<u64>,
    checksum: String,
}

impl InfoOptions {
    fn print(&self, tree: &TreeFacts<'_>) -> Result<(), Error> {
        let TreeFacts { size, window, cells, scheme: [g, r, b], curve, rule, kind, about, .. } = *tree;
        let sum = |which: usize| tree.terminals.iter().map(|level| level[which]).sum::<u64>();
        let (uniform, leaves) = (sum(0), sum(1));
        let regions = uniform + leaves;
        let share = tree.leaf_cells as f64 / cells as f64;
        if self.json {
            let label = |label: &orthant::tree::TreeLabel| json!({"value": value(kind, label.word), "name": label.name, "colour": label.colour});
            let object = json!({
                "k": size.len(),
                "size": size,
                "domain": window,
                "cell": kind.name(),
                "predicate": about.predicate,
                "curve": curve.name(),
                "explore": rule.name(),
                "g": g,
                "r": r,
                "B": b,
                "axes": about.axes,
                "directions": about.directions,
                "source": about.source,
                "nodata": about.nodata.map(|word| value(kind, word)),
                "scale": about.scale,
                "labels": about.labels.iter().map(label).collect::<Vec<_>>(),
                "bytes": tree.stored,
                "shards": tree.shards,
                "regions": regions,
                "terminals": tree.terminals,
                "leaf_cells": tree.leaf_cells,
                "regions_checksum": tree.checksum,
            });
            let mut object = object;
            if let Some((background, most)) = tree.list {
                object["list"] =
                    json!({"background": value(kind, background), "most": most, "entries": tree.leaf_cells});
                object["leaf_cells"] = serde_json::Value::Null;
            }
            return print(format_args!("{object}\n"));
        }
        let mut facts = table(&["", ""]);
        let mut fact = |name: &str, value: String| {
            facts.add_row([name.to_owned(), value]);
        };
        fact("cells", format!("{} {kind} = {cells}", by(size)));
        let equal = |axes: &[u32]| by(&shortest(axes));
        fact("scheme", format!("g {} r {} B {}, {curve}, explore {rule}", equal(g), equal(r), equal(b)));
        fact("levels", tree.terminals.len().to_string());
        let held = match tree.list {
            None => format!("with {:.1} % of the cells", share * 100.0),
            Some(_) => format!("with {} entries", tree.leaf_cells),
        };
        fact("regions", format!("{regions} = {uniform} uniform + {leaves} leaves, {held}"));
        if let Some((background, most)) = tree.list {
            let text = kind.text(background);
            fact(
                "list",
                format!("all other cells are {text}; leaves have at most {most} entries, but on the last level"),
            );
        }
        let dense = cells.saturating_mul(kind.bytes().into());
        let bytes = match tree.stored {
            Some(bytes) => {
                let of_dense = bytes as f64 / dense as f64 * 100.0;
                format!("{bytes} in {} shards, {of_dense:.3} % of the array's {}", tree.shards, Bytes(dense))
            }
            None => format!("{} shards on a server; the array has {}", tree.shards, Bytes(dense)),
        };
        fact("bytes", bytes);
        fact("predicate", about.predicate.to_string());
        for (number, axis) in about.axes.iter().enumerate() {
            let unit = axis.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
            fact(
                &format!("axis {number}"),
                escape::line(&format!("{}, from {}{unit} in steps of {}{unit}", axis.name, axis.origin, axis.spacing)),
            );
        }
        for (number, vector) in about.directions.iter().flatten().enumerate() {
            let parts: Vec<_> = vector.iter().map(|part| format!("{part:.6}")).collect();
            fact(&format!("direction {number}"), parts.join(" "));
        }
        if let Some(Scale { slope, intercept }) = about.scale {
            fact("cells stand for", format!("{slope} times the cell plus {intercept}"));
        }
        if let Some(source) = &about.source {
            fact("source", escape::line(source));
        }
        if let Some(word) = about.nodata {
            fact("no data", kind.text(word));
        }
        for label in &about.labels {
            fact(&format!("label {}", kind.text(label.word)), escape::line(&label.name));
        }
        fact("checksum", tree.checksum.clone());
        facts
            .trim_fmt()
            .lines()
            .try_for_each(|line| print(format_args!("{}\n", line.strip_prefix(' ').unwrap_or(line))))
    }
}
