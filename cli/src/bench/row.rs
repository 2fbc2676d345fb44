//! One measured case, as a line of JSON. Schema 1.
//!
//! Keys may be added; none may change its meaning without a new schema number.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::bench::energy::Energy;
use crate::bench::provenance::Provenance;
use crate::bench::settings::Case;
use crate::error::Error;
use crate::measure::Samples;

/// The schema of a row.
pub(super) const SCHEMA: u32 = 1;

/// One case. `R` is the run report when a row is written, and what a reader needs of it when it is read.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Row<R> {
    pub(crate) schema: u32,
    /// The sweep's name.
    pub(crate) sweep: String,
    /// What tells this case from every other: its settings in a row.
    pub(crate) key: String,
    /// Its settings, in the order of `run`'s options.
    #[serde(with = "in_order")]
    pub(crate) case: Vec<(String, String)>,
    /// Times; null if it failed.
    pub(crate) samples: Option<CaseTimes>,
    /// What it took of a GPU; null if that was not asked for, or is not told.
    #[serde(default)]
    pub(crate) energy: Option<Energy>,
    /// The report of its last run; null if it failed.
    pub(crate) run: Option<R>,
    /// Why it failed; null if it did not.
    pub(crate) error: Option<Failure>,
    pub(crate) provenance: Provenance,
}

/// All samples of a case in seconds, in the order in which they were taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CaseTimes {
    /// `device` or `wall`: what median and error are of.
    pub(crate) clock: String,
    pub(crate) median: f64,
    /// Of the mean; null for a single sample.
    pub(crate) standard_error: Option<f64>,
    /// Why no more were taken.
    pub(crate) stop: String,
    /// Runs before the first.
    pub(crate) warm_up: usize,
    pub(crate) wall: Vec<f64>,
    /// Empty on the CPU.
    pub(crate) device: Vec<f64>,
}

impl CaseTimes {
    pub(super) fn new(samples: Samples, warm_up: usize) -> Self {
        let error = samples.standard_error();
        Self {
            clock: if samples.device.is_empty() { "wall" } else { "device" }.into(),
            median: samples.median(),
            standard_error: error.is_finite().then_some(error),
            stop: samples.stop.name().into(),
            warm_up,
            wall: samples.wall,
            device: samples.device,
        }
    }

    /// The samples that the median is of.
    pub(crate) fn samples(&self) -> &[f64] {
        if self.clock == "device" { &self.device } else { &self.wall }
    }
}

/// An error of one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failure {
    pub(crate) message: String,
    /// The exit code that a run would have had.
    pub(crate) exit: u8,
}

impl<R> Row<R> {
    /// True of a case that was measured on a GPU without its energy.
    pub(super) fn lacks_energy(&self) -> bool {
        self.samples.is_some() && self.energy.is_none() && self.provenance.gpu.is_some()
    }

    /// A row without result.
    pub(super) fn failed(sweep: &str, case: &Case, error: &Error, provenance: Provenance) -> Self {
        let failure = Failure { message: error.to_string(), exit: error.exit_code() };
        let (key, case) = (case.key(), case.settings().to_vec());
        Self {
            schema: SCHEMA,
            sweep: sweep.into(),
            key,
            case,
            samples: None,
            energy: None,
            run: None,
            error: Some(failure),
            provenance,
        }
    }
}

/// The rows of a text, one per line.
///
/// # Errors
/// [`Error::Input`] names the file, the line and what is wrong with it.
pub(crate) fn parse<R: for<'de> Deserialize<'de>>(path: &Path, text: &str) -> Result<Vec<Row<R>>, Error> {
    let row = |(i, line): (usize, &str)| {
        let wrong = |what: String| Error::Input(format!("{}: line {}: {what}", path.display(), i + 1));
        let row: Row<R> =
            serde_json::from_str(line).map_err(|error| wrong(format!("not a row of `bench`: {error}")))?;
        match row.schema {
            SCHEMA => Ok(row),
            other => Err(wrong(format!("schema {other}, but this version reads schema {SCHEMA}"))),
        }
    };
    text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()).map(row).collect()
}

/// The rows of a file; a torn last line, which a killed `bench` may leave, is left out.
///
/// # Errors
/// [`Error::File`], and as [`parse`].
pub(crate) fn read<R: for<'de> Deserialize<'de>>(path: &Path) -> Result<Vec<Row<R>>, Error> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let (whole, rest) = text.split_at(text.rfind('\n').map_or(0, |end| end + 1));
    let mut rows = parse(path, whole)?;
    rows.extend(serde_json::from_str::<Row<R>>(rest).ok().filter(|row| row.schema == SCHEMA));
    Ok(rows)
}

/// Pairs as an object whose keys keep their order.
mod in_order {
    use std::fmt;

    use serde::de::{Deserializer, MapAccess, Visitor};
    use serde::ser::Serializer;

    type Pairs = Vec<(String, String)>;

    pub(super) fn serialize<S: Serializer>(pairs: &Pairs, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(pairs.iter().map(|(name, value)| (name, value)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        struct Object;
        impl<'de> Visitor<'de> for Object {
            type Value = Pairs;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of texts")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs, A::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(pairs)
            }
        }
        deserializer.deserialize_map(Object)
    }
}
