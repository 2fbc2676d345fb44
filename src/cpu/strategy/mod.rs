//! The strategies on the CPU, a file each.

mod ask;
mod definition;
mod dp;
mod exhaustive;

use crate::backend::StrategyKind;

use definition::Strategy;

/// The host program of a strategy.
pub(super) fn of<const K: usize>(kind: StrategyKind) -> &'static dyn Strategy<K> {
    match kind {
        StrategyKind::Exhaustive => &exhaustive::Exhaustive,
        StrategyKind::Ask => &ask::Ask,
        StrategyKind::Dp => &dp::Dp,
        StrategyKind::BottomUp => unreachable!("refused before a run is prepared"),
    }
}
