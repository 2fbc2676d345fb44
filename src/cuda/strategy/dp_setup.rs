//! What is known of a run before it starts: how long tables are, and what the kernels are told of a level.

use crate::abi::padded;
use crate::backend::{DpLaunch, How, Mapping, Pass, Shared, StrategyKind};
use crate::cuda::args::{LaunchArgs, SETTLE_IN_PLACE, SETTLE_LAUNCHED, SETTLE_LISTED, SETTLE_NONE};
use crate::cuda::balance::Settling;
use crate::cuda::limits;
use crate::cuda::memory::Buffer;
use crate::cuda::setup::Setup;
use crate::cuda::strategy::dp_terminals::Terminals;
use crate::field::Field;
use crate::geometry::Level;
use crate::plan::Plan;
use crate::result::Keep;

/// Families that a table of `tail` is made for.
pub(super) fn expected_families<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>) -> u64 {
    let expected = plan.expected_regions(field.boundary_dimension());
    let widest = expected.iter().fold(0.0, |most: f64, &regions| most.max(regions)) as u64;
    widest.div_ceil(plan.scheme().children()).clamp(1 << 8, limits::MOST)
}

/// Bytes of the overflow tables, or of the tables of `tail`, and of the lists of terminal regions.
pub(super) fn table_bytes<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, how: &How) -> u128 {
    let code = u128::from(plan.code_bytes(plan.levels().len() as u32 - 1));
    let cuda = how.on_cuda();
    let tables = match cuda.dp_launch {
        DpLaunch::Tail => 2 * u128::from(expected_families(plan, field)) * code,
        DpLaunch::Region | DpLaunch::Block => 2 * u128::from(cuda.dp_overflow) * (code + 4),
    };
    let regions: f64 = plan.expected_regions(field.boundary_dimension()).iter().sum();
    let listed = Terminals::bytes(how, code, field.labels().kind().bytes().max(4).into());
    tables + regions as u128 * (listed + u128::from(Settling::bytes_per_region(field, how)))
}

/// What the kernels are told of a level.
pub(super) fn level_args<const K: usize>(
    setup: &Setup<'_, K>,
    level: &Level<K>,
    threads: u64,
    starts: Option<&Buffer>,
) -> LaunchArgs {
    let last = setup.plan.is_last(level.index);
    let settle = match (setup.how.kept.keep, setup.how.tuning.pass_on_cuda(), setup.how.tuning.mapping()) {
        (Keep::Counts | Keep::Regions, ..) => SETTLE_NONE,
        (Keep::Dense, Pass::InPlace, Mapping::Sbr | Mapping::Stream) => SETTLE_IN_PLACE,
        (Keep::Dense, Pass::InPlace, Mapping::Mbr) => SETTLE_LAUNCHED,
        (Keep::Dense, Pass::Level | Pass::Deferred, _) => SETTLE_LISTED,
    };
    let shared = Shared::of(StrategyKind::Dp);
    let pieces = |each: u64| shared.blocks(level.most_cells(), threads, each);
    let mut args = LaunchArgs {
        regions: u64::try_from(level.regions()).unwrap_or(u64::MAX),
        level: level.index,
        last: u32::from(last),
        fill: settle,
        leaf: settle,
        pieces: pieces(shared.fill),
        leaf_pieces: pieces(shared.leaf),
        grid: padded(level.grid),
        side: padded(level.whole_sides()),
        tallies: setup.tallies(level.index),
        ..LaunchArgs::default()
    };
    args.set_curve(&setup.plan.encoding().device(level.index), starts.map_or(0, Buffer::address));
    args
}
