//! What is known of a run before it starts: how long tables are, and what the kernels are told of a level.

use crate::cuda::limits;
use crate::cuda::memory::Buffer;
use crate::cuda::session::Job;
use crate::cuda::specialise::{LaunchArgs, SETTLE_IN_PLACE, SETTLE_LISTED, SETTLE_NONE};
use crate::device::padded;
use crate::how::{DpLaunch, How, Keep, ParallelScheme};
use crate::plan::{Level, Plan};
use crate::workload::Workload;

/// Cells per thread of a block that shares a leaf (MBR), and of one that shares a fill.
const LEAF_CELLS: u64 = 4;
const FILL_CELLS: u64 = 64;

/// Families that a table of `tail` is made for.
pub(super) fn expected_families<const K: usize>(plan: &Plan<K>, workload: &dyn Workload<K>) -> u64 {
    let expected = plan.expected_regions(workload.boundary_dimension());
    let widest = expected.iter().fold(0.0, |most: f64, &regions| most.max(regions)) as u64;
    widest.div_ceil(plan.scheme().children()).clamp(1 << 8, limits::MOST)
}

/// Bytes of the overflow tables, or of the tables of `tail`.
pub(in crate::cuda) fn table_bytes<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    code: u128,
) -> u128 {
    match how.dp_launch {
        DpLaunch::Tail => 2 * u128::from(expected_families(plan, workload)) * code,
        DpLaunch::Region | DpLaunch::Block => 2 * u128::from(how.dp_overflow) * (code + 4),
    }
}

/// What the kernels are told of a level.
pub(super) fn level_args<const K: usize>(
    job: &Job<'_, K>,
    level: &Level<K>,
    threads: u64,
    starts: Option<&Buffer>,
) -> LaunchArgs {
    let last = job.plan.is_last(level.index);
    let (fill, leaf) = match (job.how.keep, job.how.scheme) {
        (Keep::Counts | Keep::Regions, _) => (SETTLE_NONE, SETTLE_NONE),
        (Keep::Dense, ParallelScheme::Sbr) => (SETTLE_IN_PLACE, SETTLE_IN_PLACE),
        (Keep::Dense, ParallelScheme::Mbr) => (SETTLE_LISTED, SETTLE_LISTED),
    };
    let pieces = |each: u64| level.most_cells().div_ceil(threads * each).clamp(1, 1 << 16) as u32;
    let mut args = LaunchArgs {
        regions: u64::try_from(level.regions()).unwrap_or(u64::MAX),
        level: level.index,
        last: u32::from(last),
        fill,
        leaf,
        pieces: pieces(FILL_CELLS),
        leaf_pieces: pieces(LEAF_CELLS),
        grid: padded(level.grid),
        side: padded(level.whole_sides()),
        tallies: job.tallies(level.index),
        ..LaunchArgs::default()
    };
    args.set_curve(&job.plan.encoding().device(level.index), starts.map_or(0, Buffer::address));
    args
}
