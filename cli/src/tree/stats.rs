//! `orthant tree stats`: what each label has.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use orthant::tree::{Parts, TreeError, TreeFile, TreeJob};

use super::memory::MemoryOptions;
use super::open::open;
use super::print::value;
use crate::error::Error;
use crate::escape;
use crate::voice::{align_right, print, table};

/// Options of `tree stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsOptions {
    /// The tree: a folder X.tree.zarr, or X.tree.zarr.zip
    tree: PathBuf,
    /// Refuse more labels than this, as measured values have
    #[arg(long, value_name = "LABELS", default_value = "65536")]
    most: usize,
    /// A line of JSON per label
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    memory: MemoryOptions,
}

/// Prints what each label has.
pub(super) fn stats(args: StatsOptions) -> Result<(), Error> {
    open(&args.tree.clone(), args)
}

/// A count as JSON has it: a number, or its digits where no reader's integers hold it.
fn count(cells: u128) -> Value {
    u64::try_from(cells).map_or_else(|_| cells.to_string().into(), Value::from)
}

impl TreeJob for StatsOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let tree = self.memory.within(tree)?;
        let parts: &dyn Parts<K> = &tree;
        let (kind, names) = (tree.kind(), &tree.info().labels);
        let name = |word: u64| names.iter().find(|label| label.word == word).map_or("", |label| &label.name);
        let labels = parts.labels(self.most).map_err(|error| match error {
            TreeError::Labels { most } => Error::Input(format!("--most {most}: {error}")),
            error => error.into(),
        })?;
        if self.json {
            return labels.iter().try_for_each(|label| {
                let line = json!({
                    "value": value(kind, label.word),
                    "name": Some(name(label.word)).filter(|name| !name.is_empty()),
                    "cells": count(label.cells),
                    "share": label.share,
                    "regions": label.regions,
                    "leaves": label.leaves,
                });
                print(format_args!("{line}\n"))
            });
        }
        let mut rows =
            table(&["value", "cells", "share", "regions", "leaves", if names.is_empty() { "" } else { "name" }]);
        for label in &labels {
            rows.add_row([
                kind.text(label.word),
                label.cells.to_string(),
                format!("{:.3} %", label.share * 100.0),
                label.regions.to_string(),
                label.leaves.to_string(),
                escape::line(name(label.word)),
            ]);
        }
        align_right(&mut rows);
        print(format_args!("{}\n", rows.trim_fmt()))
    }
}
