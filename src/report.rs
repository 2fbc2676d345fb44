//! The run report: what was run, what happened on every level, and what it cost. Schema 1.
//!
//! Keys may be added; none may change its meaning without a new schema number.

use serde::Serialize;

use crate::request::Request;
use crate::subdivision::{LevelKernels, Subdivision};

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
    /// The type of the iterated numbers.
    pub precision: String,
    /// Fused or plain.
    pub arithmetic: String,
    /// The type of a stored cell.
    pub cell: String,
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
    /// Wall time of the run, without planning and output.
    pub seconds: f64,
    /// Device time from before the first kernel to after the last; null on the CPU.
    pub device_seconds: Option<f64>,
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
    /// Visited by exploration, with repetition.
    pub explored: u64,
    /// In uniform regions.
    pub filled: u64,
    /// In leaves.
    pub leaf: u64,
    /// Evaluated outside exploration.
    pub evaluated: u64,
}

impl Report {
    /// The report of a run of `request` on `backend`, whose device is called `device`.
    pub fn new<const K: usize>(
        request: &Request,
        subdivision: &Subdivision<K>,
        backend: &str,
        device: &str,
        iterations: bool,
    ) -> Self {
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
            precision: request.precision.to_string(),
            arithmetic: request.arithmetic.to_string(),
            cell: request.how.cell.to_string(),
            strategy: request.how.strategy.to_string(),
            scheme: request.how.scheme.to_string(),
            curve: plan.curve().to_string(),
            insertion: request.how.insertion.to_string(),
            explore: plan.explore().to_string(),
            explore_order: request.how.order.to_string(),
            g: plan.scheme().g.to_vec(),
            r: plan.scheme().r.to_vec(),
            b: plan.scheme().b,
            backend: backend.into(),
            device: device.into(),
            threads: request.how.threads.unwrap_or_else(rayon::current_num_threads),
            seconds: subdivision.time().as_secs_f64(),
            device_seconds: subdivision.device_time().map(|time| time.as_secs_f64()),
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
            cells: CellsReport {
                total: plan.domain().cells(),
                explored: totals.explored_cells,
                filled: totals.filled_cells,
                leaf: totals.leaf_cells,
                evaluated: totals.evaluated_cells,
            },
            iterations: iterations.then_some(totals.label_sum),
            peak_olt_bytes: launches.peak_olt_bytes,
            compact_bytes: subdivision.compact_bytes(),
        }
    }
}
