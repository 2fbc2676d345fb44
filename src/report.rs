//! The run report: what was run, what happened on every level, and what it cost. Schema 1.
//!
//! Keys may be added; none may change its meaning without a new schema number.

use serde::Serialize;

use crate::request::Request;
use crate::subdivision::{LevelCounts, LevelKernels, Subdivision};

/// One finished run.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// The schema of this report.
    pub schema: u32,
    /// The version of the crate.
    pub orthant: &'static str,
    /// The workload's name.
    pub workload: String,
    /// k.
    pub k: usize,
    /// Cells per axis, axis 0 first.
    pub size: Vec<u32>,
    /// `[lo, hi]` per axis.
    pub domain: Vec<[f64; 2]>,
    /// Where samples lie in their cells.
    pub sample: String,
    /// D, if the workload has one.
    pub dwell: Option<u32>,
    /// The hash of the CUDA source of a `kernel` field; null for others.
    pub source: Option<String>,
    /// The type of the iterated numbers.
    pub precision: String,
    /// Fused or plain.
    pub arithmetic: String,
    /// The type of a stored cell.
    pub cell: String,
    /// What was kept.
    pub keep: String,
    /// The host program.
    pub strategy: String,
    /// Workers per region.
    pub scheme: String,
    /// The order of the OLT.
    pub curve: String,
    /// How children enter the OLT.
    pub insertion: String,
    /// How a region is found uniform.
    pub explore: String,
    /// In which order its cells are visited.
    pub explore_order: String,
    /// g per axis.
    pub g: Vec<u32>,
    /// r per axis.
    pub r: Vec<u32>,
    /// B.
    #[serde(rename = "B")]
    pub b: u32,
    /// Where it ran.
    pub backend: String,
    /// The device in words.
    pub device: String,
    /// Worker threads.
    pub threads: usize,
    /// The GPU's multiprocessors; null on the CPU.
    pub multiprocessors: Option<u32>,
    /// Threads that a multiprocessor keeps in flight; null on the CPU.
    pub multiprocessor_threads: Option<u32>,
    /// Wall time of the run, without planning and output; of several runs on the CPU the median.
    pub seconds: f64,
    /// Device time from before the first kernel to after the last; of several runs the median; null on the CPU.
    pub device_seconds: Option<f64>,
    /// The time of every run, in their order: `device_seconds` where there is a device, else `seconds`.
    pub samples: Vec<f64>,
    /// How {g, r, B} was found; null if they were given.
    pub auto_scheme: Option<AutoScheme>,
    /// Threads of a block per axis; null on the CPU.
    pub block: Option<[u32; 3]>,
    /// What an OLT holds per family; null on the CPU.
    pub table: Option<String>,
    /// The host loop of ASK; null on the CPU.
    pub ask_loop: Option<String>,
    /// What dynamic parallelism launches; null on the CPU.
    pub dp_launch: Option<String>,
    /// How stacks of grids are launched; null on the CPU.
    pub stack: Option<String>,
    /// Passes (ASK) or tasks (DP) on the CPU; kernels launched by host and device on CUDA.
    pub kernels: u64,
    /// The largest number of tasks in flight; on CUDA of a stack's launches, or of grids launched from the device (DP).
    pub most_in_flight: u64,
    /// The largest number of grids launched from the device that had not begun (DP).
    pub most_pending: u64,
    /// Launches that could be in flight at once: the budget in force, which pending launches may have cut (DP).
    pub credits: u64,
    /// The host's launches for what overflowed, which belong to no single level (DP).
    pub rounds: u64,
    /// Launches refused for want of credit (DP).
    pub refused: u64,
    /// Launches from the device that failed, and whose work was done otherwise (DP).
    pub failed: u64,
    /// Families that waited for another round (DP).
    pub overflowed: u64,
    /// Launches that ran inside their parent for want of room (DP).
    pub in_place: u64,
    /// XXH3-64 over the cells in storage order, little-endian; null if no dense array was kept.
    pub checksum: Option<String>,
    /// Level 0 first.
    pub levels: Vec<LevelReport>,
    /// Cells by what happened to them.
    pub cells: CellsReport,
    /// Iterations spent, if the workload counts them.
    pub iterations: Option<u64>,
    /// The most bytes that tables took at once.
    pub peak_olt_bytes: u64,
    /// Bytes of the terminal regions and leaf bricks that were kept.
    pub compact_bytes: u64,
}

/// One level of a run.
#[derive(Debug, Clone, Serialize)]
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
    /// Mixed regions at the last level.
    pub leaves: u64,
    /// P_i: the measured share of regions that were mixed.
    pub p: f64,
    /// Entries of the tables read and written.
    pub olt_entries: u64,
    /// Bytes of the two.
    pub olt_bytes: u64,
    /// Its cells, by what happened to them.
    pub cells: LevelCells,
    /// Iterations spent on it, if the workload counts them.
    pub iterations: Option<u64>,
    /// Kernels launched for it, by kind.
    pub kernels: LevelKernels,
    /// Wall time; null where levels overlap.
    pub seconds: Option<f64>,
}

/// Cells by what happened to them.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct CellsReport {
    /// In the domain.
    pub total: u128,
    /// On all levels.
    #[serde(flatten)]
    pub all: LevelCells,
}

/// Cells of a level, by what happened to them.
#[derive(Debug, Clone, Copy, Serialize)]
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

/// How a scheme was found: what `run --auto-scheme` adds to a report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AutoScheme {
    /// Cells that were evaluated to find it.
    pub sampled_cells: u64,
    /// What finding it took, the sample included; as for runs, without compiling kernels, allocating buffers and
    /// starting threads.
    pub seconds: f64,
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
    /// What it was chosen by: `tuning` where `model tune` measured this problem on this device, else `fit`, or `model` where
    /// nothing was fitted for the device and workload.
    pub by: &'static str,
}

/// Where and how often a request was carried out.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    /// `cpu` or `cuda`.
    pub backend: &'a str,
    /// The device in words.
    pub device: &'a str,
    /// Multiprocessors of a GPU, and the threads that each keeps in flight.
    pub multiprocessors: Option<[u32; 2]>,
    /// The time of every run in seconds: the device's on CUDA, else the wall's.
    pub samples: &'a [f64],
    /// True if labels count iterations.
    pub iterations: bool,
}

impl Report {
    /// The report of a run of `request`.
    pub fn new<const K: usize>(request: &Request, subdivision: &Subdivision<K>, ran: Ran<'_>) -> Self {
        let plan = subdivision.plan();
        let totals = subdivision.totals();
        let launches = subdivision.launches();
        let level = |stats: &crate::subdivision::LevelStats<K>| LevelReport {
            level: stats.level.index,
            grid: stats.level.grid.to_vec(),
            regions: stats.counts.regions,
            subdivided: stats.counts.subdivided,
            filled: stats.counts.filled,
            leaves: stats.counts.leaves,
            p: stats.density(),
            cells: stats.counts.into(),
            iterations: ran.iterations.then_some(stats.counts.label_sum),
            olt_entries: stats.olt_entries,
            olt_bytes: stats.olt_bytes,
            kernels: stats.kernels,
            seconds: stats.time.map(|time| time.as_secs_f64()),
        };
        Self {
            schema: 1,
            orthant: env!("CARGO_PKG_VERSION"),
            workload: request.workload.to_string(),
            k: K,
            size: plan.domain().size().to_vec(),
            domain: plan.domain().window().to_vec(),
            sample: plan.domain().sample().to_string(),
            dwell: request.dwell(),
            source: request.source_hash(),
            precision: request.precision.to_string(),
            arithmetic: request.arithmetic.to_string(),
            cell: request.how.cell.to_string(),
            keep: request.how.keep.to_string(),
            strategy: request.how.strategy.to_string(),
            scheme: request.how.scheme.to_string(),
            curve: plan.curve().to_string(),
            insertion: request.how.insertion.to_string(),
            explore: plan.explore().to_string(),
            explore_order: request.how.order.to_string(),
            g: plan.scheme().g.to_vec(),
            r: plan.scheme().r.to_vec(),
            b: plan.scheme().b,
            backend: ran.backend.into(),
            device: ran.device.into(),
            threads: request.how.threads.unwrap_or_else(rayon::current_num_threads),
            multiprocessors: ran.multiprocessors.map(|[count, _]| count),
            multiprocessor_threads: ran.multiprocessors.map(|[_, threads]| threads),
            seconds: subdivision.time().as_secs_f64(),
            device_seconds: subdivision.device_time().map(|time| time.as_secs_f64()),
            samples: ran.samples.to_vec(),
            auto_scheme: None,
            block: subdivision.device_time().map(|_| request.how.block),
            table: subdivision.device_time().map(|_| request.how.table.to_string()),
            ask_loop: subdivision.device_time().map(|_| request.how.ask_loop.to_string()),
            dp_launch: subdivision.device_time().map(|_| request.how.dp_launch.to_string()),
            stack: subdivision.device_time().map(|_| request.how.stack.to_string()),
            kernels: launches.kernels,
            most_in_flight: launches.most_in_flight,
            most_pending: launches.most_pending,
            credits: launches.credits,
            rounds: launches.rounds,
            refused: launches.refused,
            failed: launches.failed,
            overflowed: launches.overflowed,
            in_place: launches.in_place,
            checksum: subdivision.field().map(|field| field.checksum()),
            levels: subdivision.levels().iter().map(level).collect(),
            cells: CellsReport { total: plan.domain().cells(), all: totals.into() },
            iterations: ran.iterations.then_some(totals.label_sum),
            peak_olt_bytes: launches.peak_olt_bytes,
            compact_bytes: subdivision.compact_bytes(),
        }
    }
}
