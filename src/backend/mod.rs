//! What every backend shares: the seam, the choices, the estimate of memory, the errors.

mod balanced;
mod control;
mod cuda_error;
mod error;
mod estimate;
mod expected;
mod facts;
mod fleet;
mod how;
mod leaf_cells;
mod ordered;
mod part;
mod partition;
mod piece_cost;
mod portions;
mod resident_array;
mod resident_regions;
mod seam;
mod sink;
mod table;

pub use balanced::{BalanceTimes, Balanced, Balances, Balancing};
pub use control::Control;
pub use cuda_error::CudaError;
pub use error::{BatchError, Error, Unsupported};
pub use estimate::Estimate;
#[cfg(feature = "cuda")]
pub(crate) use expected::Expected;
pub use facts::DeviceFacts;
pub use fleet::{Fleet, PIECES, ROOTS_OF_A_PIECE};
pub(crate) use how::GivenCudaTuning;
pub use how::{
    AskLoop, CudaTuning, Cycles, DpLaunch, ExploreOrder, How, Insertion, Kept, Mapping, Pass, Proofs, Stack,
    StrategyKind, Table, Tuning,
};
#[cfg(feature = "cuda")]
pub(crate) use leaf_cells::LeafCells;
pub use ordered::OrderedSink;
pub(crate) use ordered::deliver_ordered;
pub(crate) use part::Start;
pub use part::{Part, PartError, Roots};
pub use partition::Partition;
pub use piece_cost::PieceCost;
#[doc(hidden)]
pub use portions::{FIRST_ROUND, LAST_ROUND, LEAST_MAPPED, MOST_DIVIDED, PIECE, Shared, TILES};
pub(crate) use portions::{LISTED, Listed};
pub use resident_array::ResidentArray;
pub use resident_regions::ResidentRegions;
pub(crate) use seam::sealed::SealedBackend;
pub use seam::{Backend, Place, Prepared, Sampler};
pub use sink::{Batch, Sink};
pub(crate) use sink::{BrickVolumes, brick_volumes, deliver, deliver_all, deliver_array};
pub(crate) use table::table_bytes;
