//! The strategies on CUDA, a file each.

mod ask;
mod ask_regions;
mod definition;
mod dp;
mod dp_settle;
mod dp_setup;
mod dp_terminals;
mod exhaustive;

pub(super) use definition::{LevelRun, Maker, Program};

use crate::backend::StrategyKind;

/// What makes the host program of a strategy.
pub(super) fn of<const K: usize>(kind: StrategyKind) -> Maker<K> {
    match kind {
        StrategyKind::Exhaustive => Maker::of::<exhaustive::ExhaustiveProgram>(),
        StrategyKind::Ask => Maker::of::<ask::AskProgram>(),
        StrategyKind::Dp => Maker::of::<dp::DpProgram>(),
    }
}
