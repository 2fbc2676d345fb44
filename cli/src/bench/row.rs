//! One measured case, as a line of JSON. Schema 1.
//!
//! Keys may be added; none may change its meaning without a new schema number.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::bench::energy::Energy;
use crate::bench::provenance::Provenance;
use crate::bench::ran::{self, RanRow};
use crate::bench::settings::Case;
use crate::error::Error;
use crate::measure::Samples;

/// The schema of a row.
pub(crate) const SCHEMA: u32 = 1;

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
    /// What its times went into, of a balancer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) phases: Option<Phases>,
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

/// The phases of a balancer's samples, in seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Phases {
    /// Sums of sizes.
    pub(crate) scan: Vec<f64>,
    /// What is looked up before.
    pub(crate) partition: Vec<f64>,
    /// The units.
    pub(crate) expansion: Vec<f64>,
    /// Units of all items, and items.
    pub(crate) units: u64,
    pub(crate) items: u64,
    /// Copies of everything that took turns.
    pub(crate) copies: usize,
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
        let failure = Failure { message: error.to_string(), exit: error.exit().code() };
        let (key, case) = (case.key(), case.settings().to_vec());
        Self {
            schema: SCHEMA,
            sweep: sweep.into(),
            key,
            case,
            samples: None,
            energy: None,
            run: None,
            phases: None,
            error: Some(failure),
            provenance,
        }
    }
}

/// The rows of a file's content, one per line, and the bytes that they take. The last line may lack its end; if it is
/// torn, as a killed `bench` may leave it, it is no row.
///
/// # Errors
/// [`Error::Input`] names the file, the line and what is wrong with it.
pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<(Vec<Row<RanRow>>, usize), Error> {
    let (mut rows, mut whole) = (Vec::new(), 0);
    for (i, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let wrong = |what: String| Error::Input(format!("{}: line {}: {what}", path.display(), i + 1));
        if !line.trim_ascii().is_empty() {
            match serde_json::from_slice::<Row<Value>>(line) {
                Err(error) if error.is_eof() && !line.ends_with(b"\n") && begins(line) => return Ok((rows, whole)),
                Err(error) => return Err(wrong(format!("not a row of `bench`: {error}"))),
                Ok(row) => row.check().map_err(wrong)?,
            }
            let row = serde_json::from_slice(line);
            rows.push(row.map_err(|error| wrong(format!("not a row of `bench`: {error}")))?);
        }
        whole += line.len();
    }
    Ok((rows, whole))
}

/// True if a row that was torn may have left this.
fn begins(torn: &[u8]) -> bool {
    let start = format!("{{\"schema\":{SCHEMA},\"sweep\":\"").into_bytes();
    torn.starts_with(&start) || start.starts_with(torn)
}

/// The rows of a file.
///
/// # Errors
/// [`Error::File`]; [`Error::Input`] names the file, the line and what is wrong with it.
pub(crate) fn read(path: &Path) -> Result<Vec<Row<RanRow>>, Error> {
    let bytes = std::fs::read(path).map_err(|source| Error::File { path: path.to_owned(), source })?;
    let (rows, whole) = parse(path, &bytes)?;
    match bytes.len() - whole {
        0 => Ok(rows),
        torn => Err(Error::Input(format!(
            "{}: the last line is torn, {torn} bytes without an end; `bench --resume` measures that case again",
            path.display()
        ))),
    }
}

impl Row<Value> {
    /// Finds what no `bench` can have measured.
    fn check(&self) -> Result<(), String> {
        if self.schema != SCHEMA {
            return Err(format!("key 'schema' is {}: this version reads schema {SCHEMA}", self.schema));
        }
        if let Some(times) = &self.samples {
            times.check()?;
        }
        self.run.as_ref().map_or(Ok(()), ran::check)
    }
}

impl CaseTimes {
    /// Finds what no clock can have told.
    pub(crate) fn check(&self) -> Result<(), String> {
        let times = self.wall.iter().chain(&self.device).chain([&self.median]);
        if let Some(time) = times.copied().find(|&time| !(time > 0.0 && time.is_finite())) {
            return Err(format!("key 'samples' has a time of {time} s: positive numbers are needed"));
        }
        match self.clock.as_str() {
            _ if self.wall.is_empty() || self.samples().is_empty() => Err("key 'samples' has no times".into()),
            "wall" | "device" => Ok(()),
            other => Err(format!("key 'clock' is '{other}': wall or device is needed")),
        }
    }
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
