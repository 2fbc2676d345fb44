//! How fast, and what is kept: choices that must not change a cell.
//!
//! The counterpart of [`Plan`](crate::plan::Plan). The conformance suite runs every combination of these and compares
//! checksums; whatever would change a cell does not belong here.

use crate::field::CellType;
use crate::registry::registry;
use crate::strategy::StrategyKind;

registry! {
    /// How many workers share a region.
    pub enum ParallelScheme("scheme") {
        /// One worker explores, fills, evaluates or divides its region.
        Sbr = "sbr",
        /// The fill and the evaluation of a region are split over many workers.
        Mbr = "mbr",
    }
}

/// Cells per thread of a block that shares a leaf (MBR on CUDA).
pub(crate) const LEAF_CELLS: u64 = 2;
/// Cells per thread of a block that shares a fill.
pub(crate) const FILL_CELLS: u64 = 16;

registry! {
    /// How children enter the next OLT.
    pub enum Insertion("insertion") {
        /// Parents reserve slots with an atomic counter: arbitrary order, as in the ASK paper.
        Atomic = "atomic",
        /// An exclusive scan over the parents gives the slots: the order of the table is kept, deterministically.
        Stable = "stable",
    }
}

registry! {
    /// In which order, and how far, the cells of a region are visited. The decision is the same either way.
    pub enum ExploreOrder("explore order") {
        /// Scattered, in chunks, stopping at the first difference.
        Scattered = "scattered",
        /// All of them, face by face, as the published codes do.
        Paper = "paper",
    }
}

registry! {
    /// What a run keeps.
    pub enum Keep("keep") {
        /// The dense array of labels and the terminal regions.
        Dense = "dense",
        /// The terminal regions and the cells of the leaves, but no dense array.
        Regions = "regions",
        /// Counts only: leaves are counted, not evaluated.
        Counts = "counts",
    }
}

registry! {
    /// The host loop of ASK on CUDA.
    pub enum AskLoop("ask loop") {
        /// Tables are kept from run to run; one count is read back per level.
        Lean = "lean",
        /// As the papers' code: every table of a level is allocated at once (cudaMalloc) before its launch, and freed
        /// (cudaFree, which waits for the device) when its turn comes again.
        Paper = "paper",
    }
}

registry! {
    /// What dynamic parallelism launches from the device on CUDA.
    pub enum DpLaunch("dp launch") {
        /// A grid for the children of every mixed region, as the papers do.
        Region = "region",
        /// A block examines a family and launches one grid for all its mixed regions.
        Block = "block",
        /// Level by level, as ASK, each launched by the one before when that is done.
        Tail = "tail",
    }
}

registry! {
    /// How a stack of 3-D grids is launched on CUDA.
    pub enum Stack("stack") {
        /// All grids in one launch, as far as the device allows.
        Folded = "folded",
        /// One launch per grid, over streams.
        Split = "split",
    }
}

registry! {
    /// What an OLT holds per family on CUDA.
    pub enum Table("table") {
        /// One scalar code of the plan's curve.
        Scalars = "scalars",
        /// K coordinates, to compare with.
        Coordinates = "coordinates",
    }
}

/// How a plan is carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct How {
    /// The host program.
    pub strategy: StrategyKind,
    /// Workers per region.
    pub scheme: ParallelScheme,
    /// How children enter the next table (ASK).
    pub insertion: Insertion,
    /// The order in which cells are visited.
    pub order: ExploreOrder,
    /// What is kept.
    pub keep: Keep,
    /// The type of a stored cell.
    pub cell: CellType,
    /// Worker threads; None: as many as the machine has.
    pub threads: Option<usize>,
    /// The largest number of tasks (DP) or of kernels in flight; None: 128, or what the device runs at once.
    pub max_kernels: Option<usize>,
    /// What dynamic parallelism launches (CUDA).
    pub dp_launch: DpLaunch,
    /// Launches that dynamic parallelism may have in flight (CUDA); None: as many as kernels.
    pub dp_budget: Option<u32>,
    /// Families that may wait for credit in the overflow table (CUDA, DP); beyond them blocks descend in place.
    pub dp_overflow: u32,
    /// The device's limit of pending launches (CUDA, DP); None: as it is.
    pub pending_launches: Option<u32>,
    /// Threads of a block per axis (CUDA); the product is a multiple of 32, at most 1024.
    pub block: [u32; 3],
    /// The host loop of ASK (CUDA).
    pub ask_loop: AskLoop,
    /// What the OLT holds (CUDA).
    pub table: Table,
    /// How stacks of grids are launched (CUDA).
    pub stack: Stack,
    /// The most memory that results and tables may take, in bytes; None: no limit.
    pub mem_limit: Option<u64>,
}

impl Default for How {
    fn default() -> Self {
        Self {
            strategy: StrategyKind::Ask,
            scheme: ParallelScheme::Sbr,
            insertion: Insertion::Stable,
            order: ExploreOrder::Scattered,
            keep: Keep::Dense,
            cell: CellType::U16,
            threads: None,
            max_kernels: None,
            dp_launch: DpLaunch::Region,
            dp_budget: None,
            dp_overflow: 1 << 20,
            pending_launches: None,
            block: [8, 8, 1],
            ask_loop: AskLoop::Lean,
            table: Table::Scalars,
            stack: Stack::Folded,
            mem_limit: None,
        }
    }
}
