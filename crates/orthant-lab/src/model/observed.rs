//! The features of what this engine does, from levels that were counted in a run or are expected of one.
//!
//! [`overhead`](super::overhead) has the features of the paper's algorithm from N_i and a_i alone. The engine differs in
//! five ways that a fit to its times must know: a mixed region is left as soon as a second label shows, so that fewer
//! cells than σ are visited; the last level is explored like the others, and only its mixed regions are evaluated; a cell
//! costs what its label says (the mean work A of a dwell field is not constant); a cell costs something beside its
//! iterations; and a level of a GPU takes at least as long as its longest region, however many workers idle. Hence
//!
//! t = α·X_A + ν·X_V + γ·X_T + λ·X_L + κ·X_K + β·X_B + δ·X_D,
//!
//! the equation of the overhead extension with X_A in iterations; X_V, the same passes in cells, beside it; and X_L, the
//! passes of the longest regions. Passes are what the workers do together, X_L what one of them does alone: where the paper
//! rounds the regions of a level up to whole waves, a fit decides how much an unfilled wave costs. Exhaustive needs no α of
//! its own: its mean work is measured like everybody's. On CUDA that holds where it meets few orbits that come back to a state, which
//! end before their label says. Streams have other features, in a file of their own; [`features`](super::features)
//! has both. The constants are of one [`Code`](super::Code).

use serde::{Deserialize, Serialize};

use super::rounds::Rounds;
use super::{ModelError, Processors};
use orthant::backend::{FIRST_ROUND, LAST_ROUND, Mapping, PIECE, Shared, StrategyKind};

/// One level, counted or expected. Totals over its regions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LevelWork {
    /// M_1·M_2·.., regions of the lattice.
    pub lattice: f64,
    /// Cells of one of them, and those of its side on axis 0, on average.
    pub volume: f64,
    /// See `volume`.
    pub side: f64,
    /// N_i, regions examined; for Exhaustive the domain.
    pub regions: f64,
    /// a_i, regions that were divided.
    pub divided: f64,
    /// Uniform regions.
    pub filled: f64,
    /// Mixed regions of the last level.
    pub leaves: f64,
    /// Cells that decide one region, on average: those that are visited if it is uniform.
    pub deciding: f64,
    /// Cells visited to explore, with repetition.
    pub explored: f64,
    /// Cells of the uniform regions.
    pub filled_cells: f64,
    /// Cells of the leaves.
    pub evaluated: f64,
    /// Iterations of the cells explored and evaluated; None if the workload does not count them.
    pub iterations: Option<f64>,
}

/// What works on regions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Hardware {
    /// Threads. Each explores a batch of regions at once, whose cells share the vector lanes, so that a region's cells are
    /// not rounded up to anything: c = 1.
    Cpu {
        /// q.
        threads: u32,
    },
    /// Multiprocessors. A region's worker is a block, of which as many are resident as there are threads for.
    Gpu {
        /// Multiprocessors.
        multiprocessors: u32,
        /// Threads that each keeps in flight.
        threads: u32,
        /// Threads of a block, c.
        block: u32,
    },
}

/// Blocks that a multiprocessor holds at most.
const RESIDENT: u32 = 32;

/// Grids launched from a device that run at once.
const GRIDS: f64 = super::kernels::CONCURRENT as f64;

/// What a pass of filling makes others wait, as a share of a visit's pass: it stores and does not look at what comes of it.
/// From 216 runs of three fields on an H200 (docs/results/model-h200.md).
const FILL_WAIT: f64 = 0.002;

impl Hardware {
    /// q and c for the paper's equations.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if there is no thread.
    pub fn processors(self) -> Result<Processors, ModelError> {
        let lanes = match self {
            Self::Cpu { .. } => 1,
            Self::Gpu { block, .. } => block,
        };
        Processors::new(self.workers() as u64, lanes.into())
    }

    /// How many cells of a region are looked at before its exploration may stop.
    pub fn rounds(self) -> Rounds {
        match self {
            Self::Cpu { .. } => Rounds { first: FIRST_ROUND, last: LAST_ROUND },
            // A block looks at one cell per thread.
            Self::Gpu { block, .. } => Rounds { first: block.into(), last: block.into() },
        }
    }

    /// q: regions that are worked on at once when each has one worker.
    fn workers(self) -> f64 {
        match self {
            Self::Cpu { threads } => f64::from(threads),
            Self::Gpu { multiprocessors, threads, block } => {
                f64::from(multiprocessors * (threads / block.max(1)).clamp(1, RESIDENT))
            }
        }
    }

    /// Lanes in flight: threads, of a GPU as many as its multiprocessors have room for.
    pub(super) fn lanes_in_flight(self) -> f64 {
        match self {
            Self::Cpu { threads } => f64::from(threads),
            Self::Gpu { multiprocessors, threads, .. } => f64::from(multiprocessors) * f64::from(threads),
        }
    }

    /// Passes of one worker over so many cells.
    fn passes(self, cells: f64) -> f64 {
        match self {
            Self::Cpu { .. } => cells,
            Self::Gpu { block, .. } => (cells / f64::from(block)).ceil(),
        }
    }

    /// Exploring a level: uniform regions are visited whole, mixed ones until a second label shows.
    fn exploring(self, level: &LevelWork) -> Passes {
        let whole = (level.filled * level.deciding).min(level.explored);
        let (uniform, mixed) = (self.by_region(level.filled, whole), level.regions - level.filled);
        // One round of cells, or some more on average: a mean of whole passes, not to be rounded.
        let early = match level.explored - whole {
            rest if mixed > 0.0 && rest > 0.0 => (rest / mixed / self.lanes()).max(1.0),
            _ => 0.0,
        };
        Passes { all: uniform.all + mixed * early, longest: if whole > 0.0 { uniform.longest } else { early } }
    }

    /// Passes over regions, one worker each.
    fn by_region(self, regions: f64, cells: f64) -> Passes {
        match regions > 0.0 {
            true => {
                let longest = self.passes(cells / regions);
                Passes { all: longest * regions, longest }
            }
            false => Passes::default(),
        }
    }

    /// Passes over regions that workers share in pieces of so many cells per lane.
    fn shared(self, cells: f64, per_lane: u64) -> Passes {
        Passes { all: cells / self.lanes(), longest: if cells > 0.0 { per_lane as f64 } else { 0.0 } }
    }

    /// c: cells of a pass.
    fn lanes(self) -> f64 {
        match self {
            Self::Cpu { .. } => 1.0,
            Self::Gpu { block, .. } => f64::from(block),
        }
    }

    /// What the longest region of a level costs beside what all do: on the CPU nothing, where every thread has many.
    fn waiting(self, visits: f64, fills: f64) -> f64 {
        match self {
            Self::Cpu { .. } => 0.0,
            Self::Gpu { .. } => visits + FILL_WAIT * fills,
        }
    }

    /// Blocks for settling regions that are shared, beyond those that explore.
    fn pieces(self, regions: f64, cells: f64, per_thread: u64) -> f64 {
        match self {
            _ if regions == 0.0 => 0.0,
            // A worker shares what it found to be more than a piece.
            Self::Cpu { .. } => regions * ((cells / regions / PIECE as f64).ceil() - 1.0).max(0.0),
            Self::Gpu { block, .. } => regions * (cells / regions / (f64::from(block) * per_thread as f64)).ceil(),
        }
    }

    /// Passes for settling shared regions, if there are any: threads settle them in the pass that finds them.
    fn settling(self, any: bool) -> usize {
        usize::from(any && matches!(self, Self::Gpu { .. }))
    }

    /// Launches of dynamic parallelism from a level that divides so many regions, in waves of those that run at once; and
    /// rounds of the host, which goes on with what a GPU's budget leaves.
    fn launches(self, divided: f64) -> (f64, f64) {
        match self {
            Self::Cpu { .. } => ((divided / self.workers()).ceil(), 0.0),
            Self::Gpu { .. } => (divided.min(GRIDS), f64::from(u8::from(divided > GRIDS))),
        }
    }
}

/// Passes over the cells of a level.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Passes {
    /// Of all workers together.
    all: f64,
    /// Over the region that takes longest.
    longest: f64,
}

/// One number per term of the time: the features of a run, or the fitted constants in seconds.
///
/// ```
/// use orthant_lab::model::observed::Terms;
///
/// // Ten launches of 2 us, and a thousand passes of 5 ns.
/// let zero = Terms::of([0.0; 7]);
/// let features = Terms { kappa: 10.0, nu: 1000.0, ..zero };
/// let constants = Terms { kappa: 2e-6, nu: 5e-9, ..zero };
/// assert!((features.times(constants) - 25e-6).abs() < 1e-12);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// X_A, passes per worker weighted with the mean iterations of their cells; α, seconds per iteration.
    pub alpha: f64,
    /// X_V, passes per worker; ν, seconds per cell that is explored or evaluated.
    pub nu: f64,
    /// X_T, passes of filling per worker; γ, seconds per cell that is filled. Of streams rows that are stored per lane.
    pub gamma: f64,
    /// X_L, passes over the longest region of every level (GPU); λ, seconds each.
    pub lambda: f64,
    /// X_K, passes over levels, and launches from the host; κ, seconds each.
    pub kappa: f64,
    /// X_B, regions and pieces of regions per worker; β, seconds each.
    pub beta: f64,
    /// X_D, launches from inside a run (DP), on the CPU in waves; δ, seconds each.
    pub delta: f64,
}

impl Terms {
    /// What the constants are called.
    pub const NAMES: [&'static str; 7] = ["alpha", "nu", "gamma", "lambda", "kappa", "beta", "delta"];

    /// In the order of the names.
    pub fn array(self) -> [f64; 7] {
        [self.alpha, self.nu, self.gamma, self.lambda, self.kappa, self.beta, self.delta]
    }

    /// From the order of the names.
    pub fn of([alpha, nu, gamma, lambda, kappa, beta, delta]: [f64; 7]) -> Self {
        Self { alpha, nu, gamma, lambda, kappa, beta, delta }
    }

    /// t: features times constants.
    pub fn times(self, constants: Self) -> f64 {
        self.array().iter().zip(constants.array()).map(|(x, theta)| x * theta).sum()
    }

    /// The features of an exhaustive run, or of workers of regions.
    pub fn new(strategy: StrategyKind, mapping: Mapping, hardware: Hardware, levels: &[LevelWork]) -> Self {
        let mut terms = Self { kappa: 1.0, ..Self::default() };
        if strategy == StrategyKind::Exhaustive {
            for level in levels {
                terms.weigh(level, level.evaluated / hardware.lanes() / hardware.workers());
            }
            return terms;
        }
        let (mut blocks, mut settling, mut rounds) = (0.0, 0, 0.0);
        for level in levels {
            let shared = mapping == Mapping::Mbr;
            let portion = Shared::of(strategy);
            let settle = |regions, cells, per_lane| match shared {
                true => hardware.shared(cells, per_lane),
                false => hardware.by_region(regions, cells),
            };
            let explored = hardware.exploring(level);
            let evaluated = settle(level.leaves, level.evaluated, portion.leaf);
            let filled = settle(level.filled, level.filled_cells, portion.fill);
            terms.weigh(level, (explored.all + evaluated.all) / hardware.workers());
            terms.gamma += filled.all / hardware.workers();
            terms.lambda += hardware.waiting(explored.longest + evaluated.longest, filled.longest);
            blocks += level.regions;
            if shared {
                blocks += hardware.pieces(level.filled, level.filled_cells, portion.fill);
                blocks += hardware.pieces(level.leaves, level.evaluated, portion.leaf);
                settling += hardware.settling(level.filled + level.leaves > 0.0);
            }
            if strategy == StrategyKind::Dp {
                let (launches, left) = hardware.launches(level.divided);
                terms.delta += launches;
                rounds += left;
            }
        }
        terms.kappa = match strategy {
            StrategyKind::Ask => (levels.len() + settling) as f64,
            _ => 1.0 + rounds,
        };
        terms.beta = blocks / hardware.workers();
        terms
    }

    /// Adds passes, and their iterations at the level's mean; without iterations a pass is worth one.
    pub(super) fn weigh(&mut self, level: &LevelWork, passes: f64) {
        let cells = level.explored + level.evaluated;
        match level.iterations {
            Some(iterations) if cells > 0.0 => {
                self.alpha += passes * iterations / cells;
                self.nu += passes;
            }
            Some(_) => {}
            None => self.alpha += passes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVELS: [LevelWork; 2] = [
        LevelWork {
            lattice: 16.0,
            volume: 10_000.0,
            side: 100.0,
            regions: 16.0,
            divided: 10.0,
            filled: 6.0,
            leaves: 0.0,
            deciding: 120.0,
            explored: 800.0,
            filled_cells: 60_000.0,
            evaluated: 0.0,
            iterations: Some(8000.0),
        },
        LevelWork {
            lattice: 64.0,
            volume: 2500.0,
            side: 50.0,
            regions: 40.0,
            divided: 0.0,
            filled: 30.0,
            leaves: 10.0,
            deciding: 30.0,
            explored: 1200.0,
            filled_cells: 75_000.0,
            evaluated: 25_000.0,
            iterations: Some(524_000.0),
        },
    ];

    #[test]
    fn threads_share_cells() {
        let hardware = Hardware::Cpu { threads: 2 };
        let of = |strategy, mapping| Terms::new(strategy, mapping, hardware, &LEVELS).array();
        let ask = [4000.0 + 262_000.0, 400.0 + 13_100.0, 67_500.0, 0.0, 2.0, 28.0, 0.0];
        assert_eq!(of(StrategyKind::Ask, Mapping::Sbr), ask);
        assert_eq!(of(StrategyKind::Ask, Mapping::Mbr), ask);
        assert_eq!(of(StrategyKind::Dp, Mapping::Sbr), [ask[0], ask[1], ask[2], 0.0, 1.0, ask[5], 5.0]);
        // Every cell, each with its label's work.
        let all =
            LevelWork { regions: 1.0, leaves: 1.0, evaluated: 1e6, iterations: Some(2e8), ..LevelWork::default() };
        let terms = Terms::new(StrategyKind::Exhaustive, Mapping::Sbr, hardware, &[all]);
        assert_eq!(terms.array(), [1e8, 5e5, 0.0, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn blocks_round_up_and_the_longest_is_waited_for() {
        let hardware = Hardware::Gpu { multiprocessors: 2, threads: 512, block: 128 };
        let of = |strategy, mapping| Terms::new(strategy, mapping, hardware, &LEVELS);
        let (sbr, mbr) = (of(StrategyKind::Ask, Mapping::Sbr), of(StrategyKind::Ask, Mapping::Mbr));
        // 8 blocks resident. Explored: one pass per region, 6 of them uniform; then 30 uniform, and 10 in one round.
        // Leaves of 2500 cells: 20 passes each.
        assert_eq!(sbr.nu * 8.0, 16.0 + 40.0 + 200.0);
        assert_eq!(mbr.nu * 8.0, 16.0 + 40.0 + 25_000.0 / 128.0);
        assert_eq!(sbr.gamma * 8.0, 6.0 * 79.0 + 30.0 * 20.0);
        assert_eq!(sbr.lambda, (1.0 + 0.002 * 79.0) + (1.0 + 20.0 + 0.002 * 20.0));
        // A piece is 16 cells per thread to fill, 2 to evaluate.
        assert_eq!(mbr.lambda, (1.0 + 0.002 * 16.0) + (1.0 + 2.0 + 0.002 * 16.0));
        // 10 000 cells in blocks of 2048, 2500 in two of them; leaves in blocks of 256.
        assert_eq!(mbr.beta * 8.0, 56.0 + 6.0 * 5.0 + 30.0 * 2.0 + 10.0 * 10.0);
        assert_eq!((sbr.kappa, mbr.kappa), (2.0, 4.0));
        // Ten launches; under a budget the rest of a thousand is left to a round of the host.
        let dp = of(StrategyKind::Dp, Mapping::Sbr);
        assert_eq!((dp.kappa, dp.delta), (1.0, 10.0));
        let many = [LevelWork { divided: 1000.0, regions: 1006.0, ..LEVELS[0] }, LEVELS[1]];
        let dp = Terms::new(StrategyKind::Dp, Mapping::Sbr, hardware, &many);
        assert_eq!((dp.kappa, dp.delta), (2.0, 128.0));
    }

    #[test]
    fn without_iterations_a_pass_is_one() {
        let level = LevelWork { iterations: None, ..LEVELS[0] };
        let terms = Terms::new(StrategyKind::Ask, Mapping::Sbr, Hardware::Cpu { threads: 1 }, &[level]);
        assert_eq!((terms.alpha, terms.nu), (800.0, 0.0));
    }
}
