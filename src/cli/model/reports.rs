//! Run reports, and rows of `bench`, as a fit reads them: one JSON object per file, or one per line; every complaint names
//! file and key.

use std::path::PathBuf;
use std::str::FromStr;

use serde_json::Value;

use super::store::Setting;
use crate::error::Error;
use crate::how::{Keep, ParallelScheme};
use crate::model::fit::Sample;
use crate::model::observed::{LevelWork, Machine, Terms, deciding};
use crate::plan::ExploreRule;
use crate::strategy::StrategyKind;

/// A measured run.
#[derive(Debug, Clone)]
pub(super) struct Measured {
    /// Where it ran: `cpu` or `cuda`.
    pub(super) backend: String,
    /// On what.
    pub(super) device: String,
    /// What constants depend on beside the device.
    pub(super) setting: Setting,
    /// Cells per axis.
    pub(super) size: Vec<u64>,
    /// g and r per axis, and B.
    pub(super) splits: (Vec<u64>, Vec<u64>, u64),
    /// The host program.
    pub(super) strategy: StrategyKind,
    /// Workers per region.
    pub(super) scheme: ParallelScheme,
    /// Threads of a block per axis.
    pub(super) block: Option<Vec<u64>>,
    /// Features and time.
    pub(super) sample: Sample,
}

impl Measured {
    /// `ask sbr`, or `exhaustive`.
    pub(super) fn variant(&self) -> String {
        match self.strategy {
            StrategyKind::Exhaustive => self.strategy.to_string(),
            _ => format!("{} {}", self.strategy, self.scheme),
        }
    }
}

/// Reads every report and every row of some files; cases that failed have none.
///
/// # Errors
/// [`Error::File`], or [`Error::Input`] naming the file and the key.
pub(super) fn read(paths: &[PathBuf]) -> Result<Vec<Measured>, Error> {
    let mut runs = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.clone(), source })?;
        let file = path.display();
        let (before, mut failed) = (runs.len(), 0);
        let pages = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
        for (index, page) in pages.enumerate() {
            let page = page.map_err(|error| Error::Input(format!("{file}: not JSON: {error}")))?;
            let run = report_or_row(&page);
            let run = run.map_err(|trouble| Error::Input(format!("{file}: report {}: {trouble}", index + 1)))?;
            failed += usize::from(run.is_none());
            runs.extend(run);
        }
        if runs.len() == before && failed > 0 {
            return Err(Error::Input(format!("{file}: nothing to fit: its {failed} rows are of cases that failed")));
        }
        if runs.len() == before {
            return Err(Error::Input(format!(
                "{file}: no report in it; `orthant run --report` writes one, `orthant bench` writes many"
            )));
        }
    }
    Ok(runs)
}

/// An object whose keys are read by name.
struct Keys<'a>(&'a Value);

impl<'a> Keys<'a> {
    fn get<T>(&self, key: &str, wanted: &str, read: impl FnOnce(&'a Value) -> Option<T>) -> Result<T, String> {
        match self.0.get(key) {
            None => Err(format!("key '{key}' is missing: {wanted} is needed")),
            Some(value) => read(value).ok_or_else(|| format!("key '{key}' is {value}: {wanted} is needed")),
        }
    }

    fn optional<T>(
        &self,
        key: &str,
        wanted: &str,
        read: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<Option<T>, String> {
        match self.0.get(key) {
            None | Some(Value::Null) => Ok(None),
            Some(_) => self.get(key, wanted, read).map(Some),
        }
    }

    fn text(&self, key: &str) -> Result<String, String> {
        self.get(key, "a text", |value| value.as_str().map(str::to_owned))
    }

    fn name<T: FromStr<Err: std::fmt::Display>>(&self, key: &str) -> Result<T, String> {
        self.text(key)?.parse().map_err(|error| format!("key '{key}': {error}"))
    }

    fn whole(&self, key: &str) -> Result<u64, String> {
        self.get(key, "a whole number", Value::as_u64)
    }

    fn processors(&self, key: &str) -> Result<u32, String> {
        self.get(key, "a whole number of at least 1", |value| {
            value.as_u64().and_then(|number| u32::try_from(number).ok()).filter(|&number| number > 0)
        })
    }

    fn wholes(&self, key: &str) -> Result<Vec<u64>, String> {
        self.get(key, "a list of whole numbers", wholes)
    }

    fn object(&self, key: &str) -> Result<Self, String> {
        self.get(key, "an object", |value| value.is_object().then_some(Self(value)))
    }
}

fn wholes(value: &Value) -> Option<Vec<u64>> {
    value.as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<_>>>().filter(|list| !list.is_empty())
}

/// A report; or the report in a row, with the median of the row's samples.
fn report_or_row(page: &Value) -> Result<Option<Measured>, String> {
    match (page.get("case"), page.get("run")) {
        (Some(_), Some(Value::Null)) => Ok(None),
        (Some(_), Some(report)) => {
            let samples = Keys(page).object("samples")?;
            let seconds = samples.get("median", "a positive number", positive)?;
            measured(report).map(|run| Some(Measured { sample: Sample { seconds, ..run.sample }, ..run }))
        }
        (Some(_), None) if page.get("samples").is_some() => {
            Err("key 'run' is missing: a row's report is needed".into())
        }
        _ => measured(page).map(Some),
    }
}

fn positive(value: &Value) -> Option<f64> {
    value.as_f64().filter(|&seconds| seconds > 0.0)
}

fn measured(page: &Value) -> Result<Measured, String> {
    let keys = Keys(page);
    match keys.whole("schema")? {
        1 => {}
        other => return Err(format!("key 'schema' is {other}: this version reads schema 1")),
    }
    let strategy: StrategyKind = keys.name("strategy")?;
    let scheme: ParallelScheme = keys.name("scheme")?;
    let keep: Keep = keys.name("keep")?;
    let block = keys.optional("block", "a list of whole numbers", wholes)?;
    let machine = match &block {
        None => Machine::Cpu { threads: keys.processors("threads")? },
        Some(sides) => Machine::Gpu {
            multiprocessors: keys.processors("multiprocessors")?,
            threads: keys.processors("multiprocessor_threads")?,
            block: (sides.iter().try_fold(1u64, |threads, &side| threads.checked_mul(side)))
                .and_then(|threads| u32::try_from(threads).ok())
                .filter(|&threads| threads > 0)
                .ok_or("key 'block': at least 1 thread is needed")?,
        },
    };
    let levels = keys.get("levels", "a list", Value::as_array)?;
    let (size, rule) = (keys.wholes("size")?, keys.name::<ExploreRule>("explore")?);
    let levels: Vec<LevelWork> = (levels.iter().enumerate())
        .map(|(i, level)| work(&Keys(level), keep, &size, rule).map_err(|trouble| format!("level {i}: {trouble}")))
        .collect::<Result<_, _>>()?;
    let seconds = match keys.optional("device_seconds", "a positive number", positive)? {
        Some(seconds) => seconds,
        None => keys.get("seconds", "a positive number", positive)?,
    };
    Ok(Measured {
        backend: keys.text("backend")?,
        device: keys.text("device")?,
        setting: Setting {
            workload: keys.text("workload")?,
            source: keys.optional("source", "a text", |value| value.as_str().map(str::to_owned))?,
            k: keys.whole("k")?,
            precision: keys.text("precision")?,
            arithmetic: keys.text("arithmetic")?,
            keep: keep.to_string(),
        },
        size,
        splits: (keys.wholes("g")?, keys.wholes("r")?, keys.whole("B")?),
        strategy,
        scheme,
        block,
        sample: Sample { terms: Terms::new(strategy, scheme, machine, &levels), seconds },
    })
}

fn work(level: &Keys<'_>, keep: Keep, size: &[u64], rule: ExploreRule) -> Result<LevelWork, String> {
    let number = |keys: &Keys<'_>, key: &str| keys.whole(key).map(|number| number as f64);
    let grid = level.wholes("grid")?;
    if grid.len() != size.len() || grid.contains(&0) {
        return Err(format!("key 'grid' is {grid:?}: {} positive numbers are needed", size.len()));
    }
    let cells = level.object("cells")?;
    Ok(LevelWork {
        regions: number(level, "regions")?,
        divided: number(level, "subdivided")?,
        filled: number(level, "filled")?,
        leaves: number(level, "leaves")?,
        deciding: deciding(rule, size.iter().zip(&grid).map(|(&n, &regions)| n as f64 / regions as f64)),
        explored: number(&cells, "explored")?,
        // Counting alone fills nothing.
        filled_cells: if keep == Keep::Dense { number(&cells, "filled")? } else { 0.0 },
        evaluated: number(&cells, "evaluated")?,
        iterations: level.optional("iterations", "a whole number", Value::as_u64)?.map(|number| number as f64),
    })
}
