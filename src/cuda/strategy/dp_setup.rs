//! What is known of a run before it starts: how long tables are, and what the kernels are told of a level.

use crate::backend::{DpLaunch, How, Mapping, Pass, Shared, StrategyKind};
use crate::cuda::args::{ExploreArgs, LaunchArgs};
use crate::cuda::balance::Settling;
use crate::cuda::constants::{SETTLE_IN_PLACE, SETTLE_LAUNCHED, SETTLE_LISTED, SETTLE_NONE};
use crate::cuda::limits;
use crate::cuda::memory::Buffer;
use crate::cuda::outline::Outline;
use crate::cuda::setup::Setup;
use crate::cuda::strategy::dp_terminals::Terminals;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::result::Keep;

/// Families that a table of `tail` is made for.
pub(super) fn expected_families(outline: &Outline<'_>) -> u64 {
    let widest = outline.expected.iter().fold(0.0, |most: f64, &regions| most.max(regions)) as u64;
    widest.div_ceil(outline.children).clamp(1 << 8, limits::MOST)
}

/// Bytes of the overflow tables, or of the tables of `tail`, and of the lists of terminal regions.
pub(super) fn table_bytes(outline: &Outline<'_>, how: &How) -> u128 {
    let code = u128::from(outline.code_bytes());
    let cuda = how.on_cuda();
    let tables = match cuda.dp_launch {
        DpLaunch::Tail => 2 * u128::from(expected_families(outline)) * code,
        DpLaunch::Region | DpLaunch::Block => 2 * u128::from(cuda.dp_overflow) * (code + 4),
    };
    let regions: f64 = outline.expected.iter().sum();
    let listed = Terminals::bytes(how, code, outline.labels.kind().bytes().max(4).into());
    tables + regions as u128 * (listed + u128::from(Settling::bytes_per_region(outline, how)))
}

/// What the kernels are told of a level.
pub(super) fn level_args(
    setup: &Setup<'_>,
    level: &Level<MAX_DIM>,
    threads: u64,
    starts: Option<&Buffer>,
) -> ExploreArgs {
    let last = setup.outline.is_last(level.index);
    let settle = match (setup.how.kept.keep, setup.how.tuning.pass_on_cuda(), setup.how.tuning.mapping()) {
        (Keep::Counts | Keep::Regions, ..) => SETTLE_NONE,
        (Keep::Dense, Pass::InPlace, Mapping::Mbr) => SETTLE_LAUNCHED,
        (Keep::Dense, Pass::InPlace, _) => SETTLE_IN_PLACE,
        (Keep::Dense, Pass::Level | Pass::Deferred, _) => SETTLE_LISTED,
    };
    let shared = Shared::of(StrategyKind::Dp);
    let pieces = |each: u64| shared.blocks(level.most_cells(), threads, each);
    let mut base = LaunchArgs {
        regions: u64::try_from(level.regions()).unwrap_or(u64::MAX),
        level: level.index,
        last: u32::from(last),
        grid: setup.outline.padded(level.grid),
        side: setup.outline.padded(level.whole_sides()),
        tallies: setup.tallies(level.index),
        ..LaunchArgs::default()
    };
    base.set_curve(&setup.outline.typed.curve(level.index), starts.map_or(0, Buffer::address));
    ExploreArgs {
        base,
        fill: settle,
        leaf: settle,
        pieces: pieces(shared.fill),
        leaf_pieces: pieces(shared.leaf),
        ..ExploreArgs::default()
    }
}
