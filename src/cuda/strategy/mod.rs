//! The strategies on CUDA, a file each.

mod ask;
mod ask_regions;
mod bottom_up;
mod bricks;
mod definition;
mod dp;
mod dp_settle;
mod dp_setup;
mod dp_terminals;
mod exhaustive;
mod stream;
mod stream_faces;
mod stream_list;
mod stream_maps;
mod stream_regions;
mod stream_tile;

pub(super) use definition::{LevelRun, Maker, Program, RegionsLeft};

use crate::backend::{AskLoop, ExploreOrder, How, Insertion, Mapping, Pass, StrategyKind, Table};
use crate::cuda::outline::Outline;
use crate::field::DeviceTwin;
use crate::result::Keep;

/// The most regions of a last level of which the host reads what became of each, as streams have it do; a block per region lists those that
/// there are. At 2^27 both take as long (docs/results/streams.md).
const MOST_READ: u128 = 1 << 28;

/// The mapping where none was chosen: streams of a dense array or of bricks where the plan and its tuning have them, since they were never
/// slower where times are above a third of a millisecond (docs/results/streams.md); else a block per region.
pub(super) fn usual(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Mapping {
    let fits = match how.kept.keep {
        Keep::Counts => bottom_up::serves(outline, twin, how),
        Keep::Regions => outline.last().regions() <= MOST_READ,
        Keep::Dense => true,
    };
    if fits && has_streams(outline, twin, how) { Mapping::Stream } else { Mapping::Sbr }
}

/// True if the plan and its tuning have streams.
pub(super) fn has_streams(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> bool {
    let cuda = how.on_cuda();
    // What a stream has none of.
    let plain = how.tuning.pass.is_none_or(|pass| pass == Pass::InPlace)
        && (how.tuning.insertion, how.tuning.explore_order) == (Insertion::Stable, ExploreOrder::Scattered)
        && (cuda.balancer, cuda.ask_loop, cuda.table) == (None, AskLoop::Lean, Table::Scalars);
    let how = how.clone().mapping(Some(Mapping::Stream));
    how.tuning.strategy == StrategyKind::Ask
        && plain
        && (of(outline, twin, &how).specialise)(outline, twin, &how).is_ok()
}

/// True if the program is the one that lists regions from the cells up, whose roots are a range of codes.
pub(super) fn is_bottom_up(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> bool {
    how.tuning.mapping() == Mapping::Stream && bottom_up::serves(outline, twin, how)
}

/// What makes the host program of a run.
pub(super) fn of(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Maker {
    match (how.tuning.strategy, how.tuning.mapping()) {
        (StrategyKind::Exhaustive, _) => Maker::of::<exhaustive::ExhaustiveProgram>(),
        (StrategyKind::Ask, Mapping::Sbr | Mapping::Mbr) => Maker::of::<ask::AskProgram>(),
        (StrategyKind::Ask, Mapping::Stream) if bottom_up::serves(outline, twin, how) => {
            Maker::of::<bottom_up::BottomUpProgram>()
        }
        (StrategyKind::Ask, Mapping::Stream) => Maker::of::<stream::StreamProgram>(),
        (StrategyKind::Dp, _) => Maker::of::<dp::DpProgram>(),
        (StrategyKind::BottomUp, _) => unreachable!("refused before programs are made"),
    }
}
