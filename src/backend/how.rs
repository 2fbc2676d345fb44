//! How a plan is carried out: what is kept, and tuning, which must not change a cell.
//!
//! The counterpart of [`Plan`](crate::Plan). The conformance suite varies all of it and compares arrays; whatever would
//! change a cell does not belong here.

use crate::balance::BalancerChoice;
use crate::cell::CellType;
use crate::choice::{ChoiceError, choices};
use crate::field::Labels;
use crate::registry::registry;
use crate::result::{Keep, Storage};
use crate::rule::RuleKind;

registry! {
    /// The way from level to level. Under every rule `ask` and `dp` give the same cells, counts and terminal regions.
    /// `exhaustive` has one region, the domain, and evaluates every cell; the rules `full` and `certified` give the
    /// same cells. Backends carry these three out ([`ON_BACKENDS`](Self::ON_BACKENDS)). `bottom-up` makes trees of cells that are there.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).rule(RuleKind::Full).build()?;
    /// let disc = CellField::new(1, |[x, y]| u32::from(x * x + y * y < 1000));
    /// let checksum = |&strategy: &StrategyKind| {
    ///     let run = Run::new(&plan, &disc).how(How::default().strategy(strategy)).start()?;
    ///     Ok(run.array().map(|array| array.checksum()))
    /// };
    /// let sums = StrategyKind::ON_BACKENDS.iter().map(checksum).collect::<Result<Vec<_>, orthant::Error>>()?;
    /// assert!(sums[0].is_some() && sums.iter().all(|sum| *sum == sums[0]));
    /// # Ok::<(), orthant::Error>(())
    /// ```
    pub enum StrategyKind("strategy") {
        /// Every cell of the domain, without subdivision. The oracle of the others.
        Exhaustive = "exhaustive",
        /// Adaptive Serial Kernels (ASK paper, §5): one pass per level over a double-buffered OLT.
        Ask = "ask",
        /// Dynamic parallelism: every mixed region launches its children.
        Dp = "dp",
        /// From the cells up, one pass over arrays, lists or points that are there: [`Tree::from_array`](crate::Tree::from_array). No
        /// backend carries it out, since a field is no source of cells.
        BottomUp = "bottom-up",
    }
}

impl StrategyKind {
    /// Those that backends carry out, over every field.
    pub const ON_BACKENDS: &'static [Self] = &[Self::Exhaustive, Self::Ask, Self::Dp];
}

registry! {
    /// How many workers share a region. The papers call this the parallel scheme.
    ///
    /// ```
    /// use orthant::Mapping;
    /// use orthant::prelude::*;
    ///
    /// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 4)).rule(RuleKind::Full).build()?;
    /// let disc = CellField::new(1, |[x, y]| u32::from(x * x + y * y < 1000));
    /// let checksum = |mapping| {
    ///     let run = Run::new(&plan, &disc).how(How::default().mapping(mapping)).start()?;
    ///     Ok::<_, orthant::Error>(run.regions_checksum())
    /// };
    /// // Tuning changes times, and no cell.
    /// assert_eq!(checksum(Mapping::Sbr)?, checksum(Mapping::Mbr)?);
    /// # Ok::<(), orthant::Error>(())
    /// ```
    pub enum Mapping("scheme") {
        /// One worker explores, fills, evaluates or divides its region.
        Sbr = "sbr",
        /// The fill and the evaluation of a region are split over many workers.
        Mbr = "mbr",
        /// ASK without tables, on a GPU: a thread proves a region, or lanes read its faces, whose cells are evaluated once for all
        /// regions that share them; and a warp settles a tile of the dense array, whose cells are stored once, in long rows.
        Stream = "stream",
    }
}

impl Mapping {
    /// The mappings of the papers, which the cost model is about. Every backend and every strategy has them.
    pub const OF_THE_PAPERS: [Self; 2] = [Self::Sbr, Self::Mbr];
}

registry! {
    /// When terminal regions are settled: uniform ones filled, and leaves evaluated. On a GPU it matters for a dense
    /// array only. The bricks of `keep regions` are always evaluated from a list, because the list says how much memory
    /// they need.
    pub enum Pass("pass") {
        /// At once, by the workers that explored them.
        InPlace = "in-place",
        /// From a list for each level: ASK's when the level is explored, DP's, whose levels run side by side, when all are.
        Level = "level",
        /// From one list, when nothing is left to explore.
        Deferred = "deferred",
    }
}

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
    pub enum ExploreOrder("order") {
        /// Scattered, in chunks, stopping at the first difference.
        Scattered = "scattered",
        /// All of them, face by face, as the published codes do.
        Paper = "paper",
    }
}

registry! {
    /// The host loop of ASK on CUDA.
    pub enum AskLoop("loop") {
        /// Tables are kept from run to run; one count is read back per level.
        Lean = "lean",
        /// As the papers' code: every table of a level is allocated at once (cudaMalloc) before its launch, and freed
        /// (cudaFree, which waits for the device) when its turn comes again.
        Paper = "paper",
    }
}

registry! {
    /// What dynamic parallelism launches from the device on CUDA.
    pub enum DpLaunch("launch") {
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
        /// The same by native grids: blocks lie along three axes, and what is beyond those is stacked.
        Grid3d = "grid3d",
    }
}

registry! {
    /// Whether exhaustive runs on CUDA look for orbits that have come back to where they were: such a one never leaves, so that its label is
    /// known before the cap. It changes no label. The papers' exhaustive does not look.
    pub enum Cycles("cycles") {
        /// They look.
        Yes = "yes",
        /// Every orbit that stays is followed up to the cap.
        No = "no",
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

registry! {
    /// Whether a run asks the field for proofs of regions before it looks at their cells. It uses a proof only if the
    /// proof says that all cells that decide the region are equal. So proofs change no cell.
    pub enum Proofs("proofs") {
        /// Regions are decided by their cells.
        No = "no",
        /// By a proof, where there is one.
        Yes = "yes",
    }
}

choices! {
    /// What is kept of a run.
    pub struct Kept on How: |how| how.kept;
    /// The type in which counts are stored; values have their own
    cell: CellType = CellType::U16, "cell";
    /// Keep all cells, regions, or counts
    keep: Keep = Keep::Dense, "keep";
}

choices! {
    /// Tuning on every backend.
    pub struct Tuning on How: |how| how.tuning;
    /// The order in which exploration visits cells
    explore_order: ExploreOrder = ExploreOrder::Scattered, "explore-order";
    /// Ask the field for proofs of regions before their cells are looked at [default: yes under full and certified, else no]
    prove: Option<Proofs> = None, "prove";
    /// The host program
    strategy: StrategyKind = StrategyKind::Ask, "strategy";
    /// Workers per region, or streams of tiles (cuda, ask, explore certified or closed) [default: stream where it can be, else sbr; where the cost model chooses, what it finds]
    #[serde(rename = "scheme")]
    mapping: Option<Mapping> = None, "scheme";
    /// When terminal regions are filled or evaluated; dp on the CPU takes level as deferred [default: in-place; level with ask and mbr on cuda]
    pass: Option<Pass> = None, "pass";
    /// How children enter the OLT
    insertion: Insertion = Insertion::Stable, "insertion";
    /// Worker threads (cpu) [default: all]
    threads: Option<usize> = None, "threads" within 1..=1024;
    /// The largest number of tasks (dp) or kernels in flight [default: 128, or what the GPU runs at once]
    max_kernels: Option<u32> = None, "max-kernels" within 1..=u64::MAX;
}

choices! {
    /// Tuning that a GPU alone understands; the CPU refuses it.
    pub struct CudaTuning or none as GivenCudaTuning on How: |how| how.cuda.get_or_insert_default();
    /// What is launched from the device: a grid per mixed region, per family, or per level (cuda, dp)
    dp_launch: DpLaunch = DpLaunch::Region, "dp-launch";
    /// Launches that may be in flight on the device, at most an eighth of the pending ones [default: as many as kernels in flight] (cuda, dp)
    dp_budget: Option<u32> = None, "dp-budget" within 1..=u64::MAX;
    /// Regions that may wait for credit; beyond them blocks descend in place (cuda, dp)
    dp_overflow: u32 = 1 << 20, "dp-overflow" within 0..=1 << 26;
    /// The device's limit of pending launches, at least 8 [default: as it is] (cuda, dp)
    pending_launches: Option<u32> = None, "pending-launches" within 1..=1 << 20;
    /// Threads of a block per axis: X, XxY or XxYxZ, a multiple of 32 in all; of more than 64 streams take 64 (cuda)
    block: [u32; 3] = [8, 8, 1], "block";
    /// Tables kept from level to level, or the papers' loop that allocates and frees them (cuda, ask)
    ask_loop: AskLoop = AskLoop::Lean, "ask-loop";
    /// What the OLT holds per family: a scalar code, or coordinates to compare with (cuda, ask)
    table: Table = Table::Scalars, "table";
    /// What settles lists of terminal regions: a balancer of `orthant balance list`, or the one that fits [default: auto] (cuda; --pass level or deferred)
    balancer: Option<BalancerChoice> = None, "balancer";
    /// A stack of 3-D grids in one launch, one launch per grid (exhaustive), or native grids (exhaustive; ask, mbr; dp) (cuda)
    stack: Stack = Stack::Folded, "stack";
    /// Whether orbits that have come back are known to stay, or followed up to the cap as the papers do (cuda, exhaustive)
    cycles: Cycles = Cycles::Yes, "cycles";
}

impl Tuning {
    /// True if the field is asked for proofs: as chosen, else as the rule has it.
    pub fn asks_proofs(&self, rule: RuleKind) -> bool {
        self.prove.map_or(rule.proves(), |prove| prove == Proofs::Yes)
    }

    /// How many workers share a region: as chosen, else one. A GPU chooses for itself where it was left open, and its runs say what
    /// ([`Prepared::mapping`](crate::backend::Prepared::mapping)).
    pub fn mapping(&self) -> Mapping {
        self.mapping.unwrap_or(Mapping::Sbr)
    }

    /// When terminal regions are settled on the CPU.
    pub(crate) fn pass_on_cpu(&self) -> Pass {
        self.pass.unwrap_or(Pass::InPlace)
    }

    /// When terminal regions are settled on a GPU: under ASK and MBR more blocks settle a region than explore it, so that lists are
    /// the default there.
    pub(crate) fn pass_on_cuda(&self) -> Pass {
        self.pass.unwrap_or(match (self.strategy, self.mapping()) {
            (StrategyKind::Ask, Mapping::Mbr) => Pass::Level,
            _ => Pass::InPlace,
        })
    }

    /// The pass that was chosen where another is the default of the strategy and the scheme on a backend, `cpu` or `cuda`; None of
    /// exhaustive, which settles nothing.
    pub fn unusual_pass(&self, backend: &str) -> Option<Pass> {
        let usual = Self { pass: None, ..self.clone() };
        let usual = if backend == "cpu" { usual.pass_on_cpu() } else { usual.pass_on_cuda() };
        self.pass.filter(|&pass| self.strategy != StrategyKind::Exhaustive && pass != usual)
    }
}

/// How a plan is carried out: what is kept, and tuning. It starts from defaults, and every choice has a setter of its
/// name. Tuning changes no cell.
///
/// ```
/// use orthant::{How, Keep, StrategyKind};
/// let how = How::default().strategy(StrategyKind::Dp).keep(Keep::Counts);
/// assert_eq!(how.tuning.strategy, StrategyKind::Dp);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[non_exhaustive]
pub struct How {
    /// What is kept.
    pub kept: Kept,
    /// Tuning on every backend.
    pub tuning: Tuning,
    /// Tuning of a GPU; None: its defaults. A CPU refuses it.
    pub cuda: Option<CudaTuning>,
    /// The most bytes that results and tables may take; None: no limit. It changes neither cells nor times.
    pub mem_limit: Option<u64>,
    /// A byte that fills the dense array before a run, outside of its time, so that a cell that is never written shows.
    /// None: the array is not filled.
    pub poison: Option<u8>,
}

impl How {
    /// Sets the most bytes that results and tables may take.
    #[must_use]
    pub fn mem_limit(self, bytes: u64) -> Self {
        Self { mem_limit: Some(bytes), ..self }
    }

    /// Fills the dense array with a byte before a run.
    #[must_use]
    pub fn poison(self, byte: u8) -> Self {
        Self { poison: Some(byte), ..self }
    }

    /// The tuning of a GPU: as chosen, else its defaults.
    pub fn on_cuda(&self) -> CudaTuning {
        self.cuda.clone().unwrap_or_default()
    }

    /// The balancer that settles terminal regions on a GPU, if they are settled from lists.
    #[cfg(feature = "cuda")]
    pub(crate) fn settles_by(&self) -> Option<BalancerChoice> {
        let lists = self.tuning.strategy != StrategyKind::Exhaustive
            && self.kept.keep == Keep::Dense
            && self.tuning.pass_on_cuda() != Pass::InPlace;
        lists.then(|| self.on_cuda().balancer.unwrap_or(BalancerChoice::Auto))
    }

    /// The same for a field: values of a type are stored as they are.
    ///
    /// # Errors
    /// [`ChoiceError`] if another type was chosen for them.
    pub fn for_labels(&self, labels: Labels) -> Result<Self, ChoiceError> {
        let (chosen, usual) = (self.kept.cell, Kept::default().cell);
        let cell = labels.cell(chosen);
        if cell != chosen && chosen != usual {
            let reason = format!("the values of this field are {cell}, and are stored as they are");
            return Err(ChoiceError::new("cell", chosen, reason));
        }
        Ok(self.clone().cell(cell))
    }

    /// Checks that proofs can be asked for where that was chosen, and are asked for where they alone decide; `proves` if the field
    /// can give any, where it runs.
    pub(crate) fn check_proofs(&self, rule: RuleKind, proves: bool) -> Result<(), ChoiceError> {
        let lacking = "this field proves nothing about its regions here";
        match self.tuning.prove {
            Some(Proofs::No) if rule.certifies() => {
                let reason = format!("under the rule {rule} proofs alone decide");
                Err(ChoiceError::new("prove", Proofs::No, reason).with(&["explore"]))
            }
            Some(Proofs::Yes) if !proves => Err(ChoiceError::new("prove", Proofs::Yes, lacking)),
            _ if rule.certifies() && !proves => Err(ChoiceError::new("explore", rule, lacking)),
            _ => Ok(()),
        }
    }

    /// Checks what every backend needs, that labels fit the cells and something may be in flight, and says how labels
    /// become cells.
    pub(crate) fn check(&self, labels: Labels) -> Result<Storage, ChoiceError> {
        if self.tuning.max_kernels == Some(0) {
            return Err(ChoiceError::new("max-kernels", 0, "at least one must be in flight"));
        }
        let strategy = self.tuning.strategy;
        if !StrategyKind::ON_BACKENDS.contains(&strategy) {
            let reason = "Tree::from_array and Tree::from_data join cells that are there; a backend divides: ask, dp or exhaustive";
            return Err(ChoiceError::new("strategy", strategy, reason));
        }
        Storage::new(labels, self.for_labels(labels)?.kept.cell)
    }
}
