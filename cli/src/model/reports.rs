//! Run reports, and rows of `bench`, as a fit reads them: one JSON object per file, or one per line; every complaint names
//! the file, the line and what is wrong with it.

use std::path::PathBuf;

use orthant::backend::Tuning;
use orthant::balance::BalancerChoice;
use orthant::{Keep, LevelReport, Report, SCHEMA, StrategyKind};
use orthant_lab::model::fit::Observation;
use orthant_lab::model::observed::{Hardware, LevelWork};
use orthant_lab::model::{Code, features};
use serde::Deserialize;
use serde_json::Value;

use crate::bench::ran;
use crate::bench::row::CaseTimes;
use crate::error::Error;
use crate::store::Setting;

/// A measured run.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// Where it ran: `cpu` or `cuda`.
    pub(super) backend: String,
    /// On what.
    pub(super) device: String,
    /// What constants depend on beside the device: the setting, and which code ran.
    pub(super) setting: Setting,
    pub(super) code: Code,
    /// Cells per axis.
    pub(super) size: Vec<u32>,
    /// g and r per axis, and B as reports have it.
    pub(super) splits: [Vec<u32>; 3],
    /// Host program, workers per region, and when they settle one.
    pub(super) tuning: Tuning,
    /// Threads of a block per axis.
    pub(super) block: Option<[u32; 3]>,
    /// True if a balancer that was named settled what was listed.
    pub(super) balanced: bool,
    /// Features and time.
    pub(super) sample: Observation,
}

impl Measured {
    /// `ask sbr`, or `exhaustive`.
    pub(super) fn variant(&self) -> String {
        let strategy = self.tuning.strategy;
        match strategy {
            StrategyKind::Exhaustive => strategy.to_string(),
            _ => format!("{strategy} {}", self.tuning.mapping()),
        }
    }
}

/// Reads every report and every row of some files; cases that failed have none, and those of bottom-up are left out.
///
/// # Errors
/// [`Error::File`], or [`Error::Input`] naming the file and what is wrong.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Measured>, Error> {
    let mut runs = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.clone(), source })?;
        let file = path.display();
        let (before, mut without) = (runs.len(), 0);
        let mut pages = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        let mut end = 0;
        while let Some(page) = pages.next() {
            let page = page.map_err(|error| Error::Input(format!("{file}: not JSON: {error}")))?;
            // Where the object begins, which may have many lines.
            let start = text.len() - text[end..].trim_start().len();
            let line = 1 + text[..start].matches('\n').count();
            end = pages.byte_offset();
            let run = report_or_row(page);
            let run = run.map_err(|trouble| Error::Input(format!("{file}: line {line}: {trouble}")))?;
            without += usize::from(run.is_none());
            runs.extend(run);
        }
        if runs.len() == before && without > 0 {
            return Err(Error::Input(format!(
                "{file}: nothing to fit: its {without} rows are of cases that failed, or of bottom-up"
            )));
        }
        if runs.len() == before {
            return Err(Error::Input(format!(
                "{file}: no report in it; `orthant run --report` writes one, `orthant bench` writes many"
            )));
        }
    }
    Ok(runs)
}

/// What a fit reads of a row.
#[derive(Deserialize)]
struct MeasuredRow {
    /// Null if the case failed.
    run: Option<Value>,
    samples: Option<CaseTimes>,
}

/// A report; or the report in a row, with the median of the row's samples.
fn report_or_row(page: Value) -> Result<Option<Measured>, String> {
    if page.get("case").is_none() || page.get("run").is_none() {
        // The schema decides whether the rest can be understood at all.
        match page.get("schema").map(Value::as_u64) {
            Some(Some(schema)) if schema == u64::from(SCHEMA) => {}
            Some(schema) => {
                let schema = schema.map_or("none".into(), |schema| schema.to_string());
                return Err(format!("key 'schema' is {schema}: this version reads schema {SCHEMA}"));
            }
            None => return Err("key 'schema' is missing: a run report is needed".into()),
        }
        if is_bottom_up(&page) {
            return Err("key 'strategy' is bottom-up: a fit needs runs that divide".into());
        }
        return measured(&page, None).map(Some);
    }
    let row = MeasuredRow::deserialize(&page).map_err(|error| error.to_string())?;
    row.samples.as_ref().map_or(Ok(()), CaseTimes::check)?;
    row.run
        .filter(|run| !is_bottom_up(run))
        .map(|report| measured(&report, row.samples.map(|samples| samples.median)))
        .transpose()
}

/// True of a report from the cells up, which the model knows nothing of.
fn is_bottom_up(report: &Value) -> bool {
    report.get("strategy").and_then(Value::as_str) == Some(StrategyKind::BottomUp.name())
}

/// What is wrong with a report, in a level with the level and the key, which serde does not name.
fn words(report: &Value, error: &serde_json::Error) -> String {
    let wrong = |level: &Value| LevelReport::deserialize(level).err().map(|error| error.to_string());
    let levels = report.get("levels").and_then(Value::as_array).into_iter().flatten().enumerate();
    let Some((i, level, trouble)) = levels.filter_map(|(i, level)| Some((i, level, wrong(level)?))).next() else {
        return error.to_string();
    };
    // The key without which the level has something else to complain of.
    let culprit = level.as_object().into_iter().flat_map(|level| level.keys()).find(|key| {
        let mut without = level.clone();
        without.as_object_mut().map(|level| level.remove(*key));
        wrong(&without).as_ref() != Some(&trouble)
    });
    culprit.map_or_else(|| format!("level {i}: {trouble}"), |key| format!("level {i}: key '{key}': {trouble}"))
}

/// A report as a fit reads it; `seconds` are another median than its own.
fn measured(page: &Value, seconds: Option<f64>) -> Result<Measured, String> {
    ran::check(page)?;
    let report = Report::deserialize(page).map_err(|error| words(page, &error))?;
    let (tuning, computation) = (&report.tuning, &report.computation);
    let hardware = match &report.cuda {
        None => Hardware::Cpu {
            threads: tuning.threads.filter(|&n| n > 0).ok_or("key 'threads': at least 1 is needed")? as u32,
        },
        Some(cuda) => Hardware::Gpu {
            multiprocessors: at_least_one("multiprocessors", report.multiprocessors)?,
            threads: at_least_one("multiprocessor_threads", report.multiprocessor_threads)?,
            block: at_least_one("block", cuda.block.iter().try_fold(1u32, |threads, &side| threads.checked_mul(side)))?,
        },
    };
    let levels: Vec<LevelWork> = (report.levels.iter().enumerate())
        .map(|(i, level)| work(level, &report).map_err(|trouble| format!("level {i}: {trouble}")))
        .collect::<Result<_, _>>()?;
    let seconds = seconds.or(report.device_seconds).unwrap_or(report.seconds);
    if !(seconds > 0.0 && seconds.is_finite()) {
        return Err(format!("key 'seconds' is {seconds}: a positive number is needed"));
    }
    Ok(Measured {
        backend: report.backend.clone(),
        device: report.device.clone(),
        setting: Setting::of(computation, report.kept.keep),
        code: Code::of(tuning.strategy, tuning.mapping(), computation.explore, tuning.asks_proofs(computation.explore)),
        size: computation.size.clone(),
        splits: [&computation.g, &computation.r, &computation.b].map(Clone::clone),
        tuning: tuning.clone(),
        block: report.cuda.as_ref().map(|cuda| cuda.block),
        balanced: report.cuda.as_ref().is_some_and(|cuda| matches!(cuda.balancer, Some(BalancerChoice::Named(_)))),
        sample: Observation { terms: features(tuning.strategy, tuning.mapping(), hardware, &levels), seconds },
    })
}

fn at_least_one(key: &str, value: Option<u32>) -> Result<u32, String> {
    value.filter(|&value| value > 0).ok_or_else(|| format!("key '{key}': a whole number of at least 1 is needed"))
}

fn work(level: &LevelReport, report: &Report) -> Result<LevelWork, String> {
    let size = &report.computation.size;
    if level.grid.len() != size.len() || level.grid.contains(&0) {
        return Err(format!("key 'grid' is {:?}: {} positive numbers are needed", level.grid, size.len()));
    }
    let sides = size.iter().zip(&level.grid).map(|(&n, &regions)| f64::from(n) / f64::from(regions));
    Ok(LevelWork {
        lattice: level.grid.iter().map(|&regions| f64::from(regions)).product(),
        volume: sides.clone().product(),
        side: f64::from(size[0]) / f64::from(level.grid[0]),
        regions: level.regions as f64,
        divided: level.subdivided as f64,
        filled: level.filled as f64,
        leaves: level.leaves as f64,
        deciding: report.computation.explore.cost(sides),
        explored: level.cells.explored as f64,
        // Counting alone fills nothing.
        filled_cells: if report.kept.keep == Keep::Dense { level.cells.filled as f64 } else { 0.0 },
        evaluated: level.cells.evaluated as f64,
        iterations: level.iterations.map(|number| number as f64),
    })
}
