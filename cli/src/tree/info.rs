//! `orthant tree info`: what a tree is.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use orthant::curve::CurveKind;
use orthant::per_axis::{shortest, text as by};
use orthant::rule::RuleKind;
use orthant::tree::{Scale, TreeFile, TreeInfo, TreeJob, TreeLabel};
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
        if self.json {
            return print(format_args!("{}\n", tree.json()));
        }
        let mut facts = table(&["", ""]);
        for fact in tree.division().into_iter().chain(tree.source()) {
            facts.add_row(fact);
        }
        facts
            .trim_fmt()
            .lines()
            .try_for_each(|line| print(format_args!("{}\n", line.strip_prefix(' ').unwrap_or(line))))
    }
}

/// What something is called, and what it is.
type InfoRow = [String; 2];

fn fact(name: &str, value: String) -> InfoRow {
    [name.to_owned(), value]
}

impl TreeFacts<'_> {
    /// Terminal regions: uniform ones, and leaves.
    fn regions(&self) -> [u64; 2] {
        [0, 1].map(|which: usize| self.terminals.iter().map(|level| level[which]).sum::<u64>())
    }

    fn json(&self) -> Value {
        let Self { size, window, scheme: [g, r, b], curve, rule, kind, about, .. } = *self;
        let label =
            |label: &TreeLabel| json!({"value": value(kind, label.word), "name": label.name, "colour": label.colour});
        let mut object = json!({
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
            "bytes": self.stored,
            "shards": self.shards,
            "regions": self.regions().iter().sum::<u64>(),
            "terminals": self.terminals,
            "leaf_cells": self.leaf_cells,
            "regions_checksum": self.checksum,
        });
        if let Some((background, most)) = self.list {
            object["list"] = json!({"background": value(kind, background), "most": most, "entries": self.leaf_cells});
            object["leaf_cells"] = Value::Null;
        }
        object
    }

    /// How the cells are divided, and what that takes.
    fn division(&self) -> Vec<InfoRow> {
        let Self { size, cells, scheme, curve, rule, kind, .. } = *self;
        let [g, r, b] = scheme.map(|axes| by(&shortest(axes)));
        let [uniform, leaves] = self.regions();
        let regions = uniform + leaves;
        let share = self.leaf_cells as f64 / cells as f64;
        let held = match self.list {
            None => format!("with {:.1} % of the cells", share * 100.0),
            Some(_) => format!("with {} entries", self.leaf_cells),
        };
        let mut facts = vec![
            fact("cells", format!("{} {kind} = {cells}", by(size))),
            fact("scheme", format!("g {g} r {r} B {b}, {curve}, explore {rule}")),
            fact("levels", self.terminals.len().to_string()),
            fact("regions", format!("{regions} = {uniform} uniform + {leaves} leaves, {held}")),
        ];
        if let Some((background, most)) = self.list {
            let text = kind.text(background);
            facts.push(fact(
                "list",
                format!("all other cells are {text}; leaves have at most {most} entries, but on the last level"),
            ));
        }
        facts.push(fact("bytes", self.bytes()));
        facts.push(fact("predicate", self.about.predicate.to_string()));
        facts
    }

    /// The bytes of its files, and of the array.
    fn bytes(&self) -> String {
        let (shards, dense) = (self.shards, self.cells.saturating_mul(self.kind.bytes().into()));
        match self.stored {
            Some(bytes) => {
                let of_dense = bytes as f64 / dense as f64 * 100.0;
                format!("{bytes} in {shards} shards, {of_dense:.3} % of the array's {}", Bytes(dense))
            }
            None => format!("{shards} shards on a server; the array has {}", Bytes(dense)),
        }
    }

    /// What it is a tree of, and its checksum.
    fn source(&self) -> Vec<InfoRow> {
        let Self { kind, about, .. } = *self;
        let mut facts = Vec::new();
        for (number, axis) in about.axes.iter().enumerate() {
            let unit = axis.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
            let text = format!("{}, from {}{unit} in steps of {}{unit}", axis.name, axis.origin, axis.spacing);
            facts.push(fact(&format!("axis {number}"), escape::line(&text)));
        }
        for (number, vector) in about.directions.iter().flatten().enumerate() {
            let parts: Vec<_> = vector.iter().map(|part| format!("{part:.6}")).collect();
            facts.push(fact(&format!("direction {number}"), parts.join(" ")));
        }
        if let Some(Scale { slope, intercept }) = about.scale {
            facts.push(fact("cells stand for", format!("{slope} times the cell plus {intercept}")));
        }
        facts.extend(about.source.iter().map(|source| fact("source", escape::line(source))));
        facts.extend(about.nodata.map(|word| fact("no data", kind.text(word))));
        for label in &about.labels {
            facts.push(fact(&format!("label {}", kind.text(label.word)), escape::line(&label.name)));
        }
        facts.push(fact("checksum", self.checksum.clone()));
        facts
    }
}
