//! `orthant tree print`: terminal regions in lines.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};

use orthant::CellType;
use orthant::tree::{Parts, TreeFile, TreeJob, TreeRegion};

use super::numbers::value;
use super::open::open;
use super::span;
use crate::error::Error;
use crate::stdout;

/// Options of `tree print`.
#[derive(Debug, Args)]
pub(crate) struct PrintOptions {
    /// The tree: a folder X.tree.zarr, an X.tree.zarr.zip, or the URL of either
    tree: PathBuf,
    /// Only regions of this level
    #[arg(long)]
    level: Option<u32>,
    /// Lines of JSON
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Comma-separated values with a header
    #[arg(long)]
    csv: bool,
}

/// Prints the regions.
pub(super) fn print(args: PrintOptions) -> Result<(), Error> {
    open(&args.tree.clone(), args)
}

impl TreeJob for PrintOptions {
    type Output = Result<(), Error>;

    fn run<const K: usize>(self, tree: TreeFile<K>) -> Self::Output {
        let mut out = std::io::BufWriter::with_capacity(1 << 16, stdout::lock()?);
        let kind = tree.kind();
        let deepest = tree.plan().levels().len() as u32 - 1;
        if let Some(level) = self.level.filter(|&level| level > deepest) {
            return Err(Error::Input(format!("--level {level}: the tree has levels 0 to {deepest}")));
        }
        if self.csv {
            let columns = |name: &str| (0..K).map(|j| format!("{name}{j},")).collect::<String>();
            writeln!(out, "level,code,{}{}value,provenance", columns("corner"), columns("extent"))
                .map_err(stdout::failed)?;
        }
        for index in 0..Parts::parts(&tree) {
            let part = tree.part(index)?;
            for region in part.regions().filter(|region| self.level.is_none_or(|level| level == region.level())) {
                let line = match (self.json, self.csv) {
                    (true, _) => as_json(kind, region).to_string(),
                    (_, true) => as_csv(kind, region),
                    _ => as_text(kind, region),
                };
                writeln!(out, "{line}").map_err(stdout::failed)?;
            }
        }
        out.flush().map_err(stdout::failed)
    }
}

fn as_text<const K: usize>(kind: CellType, region: TreeRegion<'_, K>) -> String {
    let value = region.uniform().map_or("leaf".into(), |word| kind.text(word));
    format!(
        "{} {} {} {value} {}",
        region.level(),
        region.code(),
        span::text(&region.cells()),
        region.provenance().name()
    )
}

fn as_csv<const K: usize>(kind: CellType, region: TreeRegion<'_, K>) -> String {
    let cells = region.cells();
    let mut line = format!("{},{},", region.level(), region.code());
    for number in cells.corner.iter().chain(&cells.extent) {
        line.extend([&*number.to_string(), ","]);
    }
    let value = region.uniform().map_or(String::new(), |word| kind.text(word));
    line + &format!("{value},{}", region.provenance().name())
}

fn as_json<const K: usize>(kind: CellType, region: TreeRegion<'_, K>) -> Value {
    let cells = region.cells();
    json!({
        "level": region.level(),
        "code": region.code(),
        "corner": cells.corner[..],
        "extent": cells.extent[..],
        "value": region.uniform().map(|word| value(kind, word)),
        "provenance": region.provenance().name(),
    })
}
