//! The run report: what was run, what happened on every level, and what it cost. Schema 1.
//!
//! Keys may be added; none may change its meaning without a new schema number. A report can be read back, those of older
//! versions too. A run that divides and a tree that is made from the cells up have one kind of report.

use serde::{Deserialize, Serialize};

use crate::backend::{CudaTuning, How, Kept, Mapping, StrategyKind, Tuning};
use crate::engine::computation::Computation;
use crate::engine::points_read::PointsRead;
use crate::engine::read_from::ReadFrom;
use crate::engine::stages::SecondsByStage;
use crate::result::{Keep, Launches, LevelCounts, LevelKernels, LevelStats, RegionsChecksum, RunCounts, Terminal};
use crate::tree::Predicate;

/// The schema of a report.
pub const SCHEMA: u32 = 1;

/// One finished run.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::{Mapping, Ran, Report, field};
///
/// let request = Request::new(FieldKind::Mandelbrot).size(vec![64, 64]).scheme(4, 2, 4);
/// let plan = request.plan::<2>()?;
/// let field = field::mandelbrot::open(plan.domain(), &request.options()?)?;
/// let found = Run::new(&plan, &*field).how(request.how.clone()).start()?;
/// let (backend, device, mapping) = ("cpu", "two cores", Mapping::Sbr);
/// let (multiprocessors, samples, checksum, regions_checksum) = (None, &[][..], None, None);
/// let ran = Ran { backend, device, multiprocessors, mapping, samples, iterations: true, checksum, regions_checksum };
/// let report = Report::new(request.computation(&plan), &request.how, found.counts(), ran);
/// assert_eq!((report.cells.total, report.levels[0].regions), (64 * 64, 16));
/// // A report is JSON, and can be read back.
/// let text = serde_json::to_string(&report)?;
/// assert_eq!(serde_json::from_str::<Report>(&text)?, report);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The schema of this report.
    pub schema: u32,
    /// The version of the crate.
    pub orthant: String,
    /// What was computed.
    #[serde(flatten)]
    pub computation: Computation,
    /// What was kept.
    #[serde(flatten)]
    pub kept: Kept,
    /// Tuning; the threads are those that worked.
    #[serde(flatten)]
    pub tuning: Tuning,
    /// Tuning of a GPU; every key is null on the CPU.
    #[serde(flatten, with = "on_cuda")]
    pub cuda: Option<CudaTuning>,
    /// Where the cells of an array came from; rows of a sweep do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<ReadFrom>,
    /// From the cells up: when cells counted as one value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub predicate: Option<Predicate>,
    /// From points up: how many were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub points: Option<PointsRead>,
    /// Where it ran.
    pub backend: String,
    /// The device in words.
    pub device: String,
    /// The GPU's multiprocessors; null on the CPU.
    pub multiprocessors: Option<u32>,
    /// Threads that a multiprocessor keeps in flight; null on the CPU.
    pub multiprocessor_threads: Option<u32>,
    /// Wall time of the run, without planning and output; of several runs on the CPU the median.
    pub seconds: f64,
    /// Device time from before the first kernel to after the last; of several runs the median; null on the CPU.
    pub device_seconds: Option<f64>,
    /// How long each of several devices ran kernels, host decisions between them included; nothing of one device. Rows of a sweep do
    /// not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub busy_seconds: Vec<f64>,
    /// Bytes of the field's arrays that were copied to a GPU, as a whole or piece by piece; left out where there are none, and by rows of a
    /// sweep.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub copied_bytes: u64,
    /// Where the time went from the first step to the last file; rows of a sweep do not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds_by_stage: Option<SecondsByStage>,
    /// The time of every run, in their order: `device_seconds` where there is a device, else `seconds`.
    #[serde(default)]
    pub samples: Vec<f64>,
    /// How {g, r, B} was found; null if they were given.
    #[serde(default)]
    pub auto_scheme: Option<AutoScheme>,
    /// What was launched, and the most bytes that tables took at once.
    #[serde(flatten)]
    pub launches: Launches,
    /// XXH3-64 over the cells in storage order, little-endian; null if no dense array was kept.
    pub checksum: Option<String>,
    /// The sum of the XXH3-64 of the terminal regions, whatever their order
    /// ([`RegionsChecksum`]); null if cells or regions were not kept, and in rows of a sweep.
    #[serde(default)]
    pub regions_checksum: Option<String>,
    /// Level 0 first.
    pub levels: Vec<LevelReport>,
    /// Cells by what happened to them.
    pub cells: CellsReport,
    /// Iterations spent, if the field counts them.
    pub iterations: Option<u64>,
    /// Bytes of the terminal regions and leaf bricks that were kept.
    pub compact_bytes: u64,
}

/// One level of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LevelReport {
    /// i.
    pub level: u32,
    /// M_j per axis.
    pub grid: Vec<u32>,
    /// Regions examined.
    pub regions: u64,
    /// Mixed regions that were divided.
    pub subdivided: u64,
    /// Uniform regions.
    pub filled: u64,
    /// Those of them that were proven: no cell was looked at.
    #[serde(default)]
    pub proven: u64,
    /// Mixed regions at the last level.
    pub leaves: u64,
    /// P_i: the measured share of regions that were mixed; null where there were none.
    pub p: Option<f64>,
    /// Regions of the tables read and written on the CPU, their families on CUDA.
    pub olt_entries: u64,
    /// Bytes of as many codes.
    pub olt_bytes: u64,
    /// Scalars of the tables read and written, one for each family of regions on every backend; 0 in older reports.
    #[serde(default)]
    pub table_entries: u64,
    /// The bytes that they took.
    #[serde(default)]
    pub table_bytes: u64,
    /// Its cells, by what happened to them.
    pub cells: LevelCells,
    /// Iterations spent on it, if the field counts them.
    pub iterations: Option<u64>,
    /// Kernels launched for it, by kind.
    pub kernels: LevelKernels,
    /// Wall time; null where levels overlap.
    pub seconds: Option<f64>,
}

impl LevelReport {
    /// What a level did, with iterations if the field counts them.
    pub(super) fn of<const K: usize>(stats: &LevelStats<K>, iterations: bool) -> Self {
        Self {
            level: stats.level.index,
            grid: stats.level.grid.to_vec(),
            regions: stats.counts.regions,
            subdivided: stats.counts.subdivided,
            filled: stats.counts.filled,
            proven: stats.counts.proven,
            leaves: stats.counts.leaves,
            p: Some(stats.density()).filter(|p| p.is_finite()),
            cells: stats.counts.into(),
            iterations: iterations.then_some(stats.counts.label_sum),
            olt_entries: stats.olt_entries,
            olt_bytes: stats.olt_bytes,
            table_entries: stats.table_entries,
            table_bytes: stats.table_bytes,
            kernels: stats.kernels,
            seconds: stats.time.map(|time| time.as_secs_f64()),
        }
    }
}

/// Cells by what happened to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct CellsReport {
    /// In the domain.
    pub total: u128,
    /// On all levels.
    #[serde(flatten)]
    pub all: LevelCells,
}

/// Cells of a level, by what happened to them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LevelCells {
    /// Visited by exploration, with repetition.
    pub explored: u64,
    /// In uniform regions.
    pub filled: u64,
    /// In leaves.
    pub leaf: u64,
    /// Evaluated outside exploration.
    pub evaluated: u64,
}

impl From<LevelCounts> for LevelCells {
    fn from(counts: LevelCounts) -> Self {
        Self {
            explored: counts.explored_cells,
            filled: counts.filled_cells,
            leaf: counts.leaf_cells,
            evaluated: counts.evaluated_cells,
        }
    }
}

/// How strategy and scheme were found: what a choice of the cost model adds to a report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AutoScheme {
    /// Cells that were evaluated to find it.
    pub sampled_cells: u64,
    /// What finding it took, the sample included; as for runs, without compiling kernels, allocating buffers and
    /// starting threads.
    pub seconds: f64,
    /// The strategy: exhaustive where dividing does not pay, whose g, r and B are those of a plan where none are chosen; null in
    /// reports of versions that chose a scheme alone.
    #[serde(default)]
    pub strategy: Option<StrategyKind>,
    /// g on every axis.
    pub g: u32,
    /// r on every axis.
    pub r: u32,
    /// B.
    #[serde(rename = "B")]
    pub b: u32,
    /// Workers per region.
    pub scheme: String,
    /// What the fit says that the run takes, or what it took when it was tuned; null without either.
    pub predicted_seconds: Option<f64>,
    /// What it was chosen by: `tuning` where `model tune` measured this problem on this device, else `fit`, or `default` where
    /// nothing was fitted for the device and field. Version 0.1 chose by the `model` then.
    pub by: String,
}

/// Where and how often a plan was carried out.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// `cpu` or `cuda`.
    pub backend: &'a str,
    /// The device in words.
    pub device: &'a str,
    /// Multiprocessors of a GPU, and the threads that each keeps in flight.
    pub multiprocessors: Option<[u32; 2]>,
    /// How many workers shared a region.
    pub mapping: Mapping,
    /// The time of every run in seconds: the device's on CUDA, else the wall's.
    pub samples: &'a [f64],
    /// True if labels count iterations.
    pub iterations: bool,
    /// The checksum of the dense array, if one was kept.
    pub checksum: Option<&'a str>,
    /// The checksum of the terminal regions, if it was asked for and they were kept.
    pub regions_checksum: Option<RegionsChecksum>,
}

impl Report {
    /// The report of a run that counted `counts`.
    pub fn new<const K: usize>(computation: Computation, how: &How, counts: &RunCounts<K>, ran: Ran<'_>) -> Self {
        let totals = counts.totals();
        let mut tuning = how.tuning.clone();
        tuning.mapping = Some(ran.mapping);
        tuning.threads = Some(tuning.threads.unwrap_or_else(rayon::current_num_threads));
        let total = computation.size.iter().fold(1u128, |cells, &n| cells.saturating_mul(n.into()));
        // Exhaustive has no terminal regions; bricks are kept with the regions.
        let divided = how.tuning.strategy != StrategyKind::Exhaustive && how.kept.keep != Keep::Counts;
        let terminals = if divided { totals.filled + totals.leaves } else { 0 };
        let bricks = if how.kept.keep == Keep::Regions { totals.leaf_cells } else { 0 };
        Self {
            schema: SCHEMA,
            orthant: env!("CARGO_PKG_VERSION").into(),
            computation,
            kept: how.kept.clone(),
            tuning,
            cuda: ran.multiprocessors.map(|_| how.on_cuda()),
            input: None,
            predicate: None,
            points: None,
            backend: ran.backend.into(),
            device: ran.device.into(),
            multiprocessors: ran.multiprocessors.map(|[count, _]| count),
            multiprocessor_threads: ran.multiprocessors.map(|[_, threads]| threads),
            seconds: counts.times.wall.as_secs_f64(),
            device_seconds: counts.times.device.map(|time| time.as_secs_f64()),
            samples: ran.samples.to_vec(),
            auto_scheme: None,
            busy_seconds: Vec::new(),
            copied_bytes: 0,
            seconds_by_stage: None,
            launches: counts.launches,
            checksum: ran.checksum.map(str::to_owned),
            regions_checksum: ran.regions_checksum.map(|sum| sum.to_string()),
            levels: counts.levels.iter().map(|stats| LevelReport::of(stats, ran.iterations)).collect(),
            cells: CellsReport { total, all: totals.into() },
            iterations: ran.iterations.then_some(totals.label_sum),
            compact_bytes: terminals * Terminal::BYTES + bricks * how.kept.cell.bytes(),
        }
    }
}

/// The tuning of a GPU with a null for every key where there is none.
mod on_cuda {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use crate::backend::{CudaTuning, GivenCudaTuning};

    pub(super) fn serialize<S: Serializer>(cuda: &Option<CudaTuning>, serializer: S) -> Result<S::Ok, S::Error> {
        GivenCudaTuning::from(cuda.clone()).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<CudaTuning>, D::Error> {
        GivenCudaTuning::deserialize(deserializer).map(Option::from)
    }
}
/// True of a number that a report leaves out.
fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}
