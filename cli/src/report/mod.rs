//! `orthant report`: result files of `bench` as a page with figures and tables.

mod balancers;
mod encodings;
mod facts;
mod figures;
mod page;
mod summary;
mod tables;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use crate::bench::ran::RanRow;
use crate::bench::row::{self, Row};
use crate::curves::CurveRow;
use crate::error::Error;
use crate::interrupt::cancels;
use crate::output::{Staged, chart, distinct, expect_extension};
use crate::voice::Voice;
use orthant::Control;
use orthant::disk::Folder;

use facts::Fact;
use figures::dimensions;
use page::{Experiment, Page};

/// Options of `report`.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// Result files of `bench`
    #[arg(required = true, value_name = "RESULTS.jsonl")]
    pub(crate) results: Vec<PathBuf>,
    /// The page
    #[arg(short, long, value_name = "PATH.html", required_unless_present_any = ["svg", "md", "csv"])]
    pub(crate) output: Option<PathBuf>,
    /// A folder for the figures, one file each; made if need be
    #[arg(long, value_name = "FOLDER")]
    pub(crate) svg: Option<PathBuf>,
    /// The same as Markdown; with links to the figures of --svg
    #[arg(long, value_name = "PATH.md")]
    pub(crate) md: Option<PathBuf>,
    /// A folder for the numbers of the figures, a CSV file each; made if need be
    #[arg(long, value_name = "FOLDER")]
    pub(crate) csv: Option<PathBuf>,
    /// Lines of `curves compare --json`, whose locality stands beside the times of the same fields
    #[arg(long, value_name = "CURVES.jsonl")]
    pub(crate) curves: Vec<PathBuf>,
    /// What it is called
    #[arg(long, default_value = "Measurements of orthant")]
    pub(crate) title: String,
    /// Overwrite existing outputs
    #[arg(long)]
    pub(crate) force: bool,
}

/// Reads results and writes what was asked for.
pub(crate) fn report(args: ReportOptions, voice: Voice) -> Result<(), Error> {
    let mut rows = Vec::new();
    for path in &args.results {
        rows.extend(row::read(path)?);
    }
    if rows.is_empty() {
        return Err(Error::Input(format!("{}: there are no rows to report", args.results[0].display())));
    }
    let localities = encodings::localities(&args.curves)?;
    let facts: Vec<Fact> = rows.iter().filter_map(Fact::of).collect();
    for lost in localities.iter().filter(|row| !facts.iter().any(|fact| encodings::fits(row, fact))) {
        voice.say(format_args!(
            "orthant: --curves: no row is of {} in {} dimensions along {}",
            lost.workload, lost.k, lost.curve
        ));
    }
    let experiments = experiments(&rows, &localities);
    let figures = || experiments.iter().flat_map(|experiment| &experiment.figures);
    let (total, failed) = (rows.len(), rows.iter().filter(|row| row.samples.is_none()).count());
    let failures = if failed > 0 { format!(", {failed} of which failed") } else { String::new() };
    let names: Vec<String> = args.results.iter().map(|path| file_name(path)).collect();
    let page = Page {
        title: &args.title,
        summary: &format!("Cases: {total}{failures}. Figures: {}.", figures().count()),
        sources: &names.join(", "),
        experiments: &experiments,
        machines: &tables::machines(&rows),
    };
    let control = Arc::new(Control::default());
    cancels(&control);

    distinct(args.output.iter().chain(&args.md).map(PathBuf::as_path), &args.results)?;
    // Everything is opened before anything is written.
    let mut outputs = Vec::new();
    if let Some(path) = &args.output {
        outputs.push((stage("--output", path, "html", args.force)?, page.html()?));
    }
    if let Some(path) = &args.md {
        let folder = args.svg.as_ref().map(|folder| folder.to_string_lossy().into_owned());
        outputs.push((stage("--md", path, "md", args.force)?, page.markdown(folder.as_deref())));
    }
    for (folder, kind) in [(&args.svg, "svg"), (&args.csv, "csv")] {
        let Some(folder) = folder else { continue };
        Folder::open_or_new(folder).map_err(|source| Error::File { path: folder.clone(), source })?;
        for figure in figures() {
            let path = folder.join(format!("{}.{kind}", figure.name));
            let text = match kind {
                "svg" => chart::single(&figure.panel, &figure.title, &figure.caption)
                    .map_err(|source| Error::File { path: path.clone(), source })?,
                _ => figure.panel.csv(),
            };
            outputs.push((stage(&format!("--{kind}"), &path, kind, args.force)?, text));
        }
    }
    for (staged, text) in outputs {
        let target = staged.target().to_owned();
        staged.finish(&control, |out| out.write_all(text.as_bytes()))?;
        voice.say(format_args!("orthant: wrote {}", target.display()));
    }
    Ok(())
}

/// What the rows of every sweep show, in the order in which they were first met.
fn experiments(rows: &[Row<RanRow>], localities: &[CurveRow]) -> Vec<Experiment> {
    let mut sweeps: Vec<&str> = Vec::new();
    for row in rows {
        if !sweeps.contains(&&row.sweep[..]) {
            sweeps.push(&row.sweep);
        }
    }
    let mut figures_before = 0;
    let experiment = |name: &str| {
        let rows: Vec<&Row<RanRow>> = rows.iter().filter(|row| row.sweep == name).collect();
        let facts: Vec<Fact> = rows.iter().filter_map(|row| Fact::of(row)).collect();
        let mut figures = figures::figures(&facts);
        // Names are unique, and say in which order to look.
        for figure in &mut figures {
            figures_before += 1;
            figure.name = format!("{figures_before:02}-{}", figure.name);
        }
        let found = summary::sentence(&facts).or_else(|| balancers::sentence(&rows));
        let found = found.unwrap_or_else(|| "No case has a result.".into());
        let more = [dimensions::sentence(&facts), encodings::sentence(&facts)].into_iter().flatten();
        let found = more.fold(found, |found, sentence| format!("{found} {sentence}"));
        let own = [balancers::table(&rows), encodings::table(&facts, localities)].into_iter();
        let tables = own.filter(|table| !table.rows.is_empty()).chain(tables::tables(&rows, &facts)).collect();
        Experiment { name: name.to_owned(), found, tables, figures }
    };
    sweeps.into_iter().map(experiment).collect()
}

fn stage(flag: &str, path: &Path, extension: &str, force: bool) -> Result<Staged, Error> {
    expect_extension(flag, path, &[extension])?;
    Staged::new(path, force)
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned())
}
