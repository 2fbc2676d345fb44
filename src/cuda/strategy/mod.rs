//! The strategies on CUDA, a file each.

mod ask;
mod ask_regions;
mod definition;
mod dp;
mod dp_settle;
mod dp_setup;
mod dp_terminals;
mod exhaustive;
mod stream;
mod stream_faces;
mod stream_regions;
mod stream_tile;

pub(super) use definition::{LevelRun, Maker, Program};

use crate::backend::{How, Mapping, StrategyKind};

/// What makes the host program of a run.
pub(super) fn of<const K: usize>(how: &How) -> Maker<K> {
    match (how.tuning.strategy, how.tuning.mapping) {
        (StrategyKind::Exhaustive, _) => Maker::of::<exhaustive::ExhaustiveProgram>(),
        (StrategyKind::Ask, Mapping::Sbr | Mapping::Mbr) => Maker::of::<ask::AskProgram>(),
        (StrategyKind::Ask, Mapping::Stream) => Maker::of::<stream::StreamProgram<K>>(),
        (StrategyKind::Dp, _) => Maker::of::<dp::DpProgram>(),
    }
}
