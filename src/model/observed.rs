//! The features of what this engine does, from levels that were counted in a run or are expected of one.
//!
//! [`overhead`](super::overhead) has the features of the paper's algorithm from N_i and a_i alone. The engine differs in
//! four ways that a fit to its times must know: a mixed region is left as soon as a second label shows, so that fewer
//! cells than σ are visited; the last level is explored like the others, and only its mixed regions are evaluated; a cell
//! costs what its label says (the mean work A of a dwell field is not constant); and a cell costs something beside its
//! iterations. Hence
//!
//! t = α·X_A + ν·X_V + γ·X_T + κ·X_K + β·X_B + δ·X_D,
//!
//! the equation of the overhead extension with X_A in iterations and X_V, the same passes in cells, beside it. Exhaustive
//! needs no α of its own: its mean work is measured like everybody's.

use serde::{Deserialize, Serialize};

use super::sample::Rounds;
use super::{ModelError, Processors};
use crate::how::{FILL_CELLS, LEAF_CELLS, ParallelScheme};
use crate::strategy::StrategyKind;

/// One level, counted or expected. Totals over its regions.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LevelWork {
    /// N_i, regions examined; for Exhaustive the domain.
    pub regions: f64,
    /// a_i, regions that were divided.
    pub divided: f64,
    /// Uniform regions.
    pub filled: f64,
    /// Mixed regions of the last level.
    pub leaves: f64,
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
pub enum Machine {
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

/// Cells that a CPU worker takes from a region that is shared (MBR).
const PIECE: f64 = crate::cpu::PIECE as f64;

/// Blocks that a multiprocessor holds at most.
const RESIDENT: u32 = 32;

/// Grids launched from a device that run at once.
const GRIDS: f64 = super::kernels::CONCURRENT as f64;

impl Machine {
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
            Self::Cpu { .. } => Rounds { first: crate::cpu::FIRST_ROUND, last: crate::cpu::LAST_ROUND },
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

    /// Passes of one worker over so many cells.
    fn passes(self, cells: f64) -> f64 {
        match self {
            Self::Cpu { .. } => cells,
            Self::Gpu { block, .. } => (cells / f64::from(block)).ceil(),
        }
    }

    /// Passes of all workers over so many cells.
    fn spread(self, cells: f64) -> f64 {
        match self {
            Self::Cpu { .. } => cells / self.workers(),
            Self::Gpu { block, .. } => (cells / (self.workers() * f64::from(block))).ceil(),
        }
    }

    /// Passes over the regions of a level, one worker each: ⌈cells of a region/c⌉·⌈regions/q⌉.
    fn by_region(self, regions: f64, cells: f64) -> f64 {
        match regions > 0.0 {
            true => self.passes(cells / regions) * (regions / self.workers()).ceil(),
            false => 0.0,
        }
    }

    /// Blocks for settling regions that are shared, beyond those that explore.
    fn pieces(self, regions: f64, cells: f64, per_thread: u64) -> f64 {
        match self {
            _ if regions == 0.0 => 0.0,
            // A worker shares what it found to be more than a piece.
            Self::Cpu { .. } => regions * ((cells / regions / PIECE).ceil() - 1.0).max(0.0),
            Self::Gpu { block, .. } => regions * (cells / regions / (f64::from(block) * per_thread as f64)).ceil(),
        }
    }

    /// Passes for settling shared regions, if there are any: threads settle them in the pass that finds them.
    fn settling(self, any: bool) -> usize {
        usize::from(any && matches!(self, Self::Gpu { .. }))
    }

    /// Launches of dynamic parallelism that run at once.
    fn launches(self) -> f64 {
        match self {
            Self::Cpu { .. } => self.workers(),
            Self::Gpu { .. } => GRIDS,
        }
    }
}

/// A number for every term of the time: features, or their constants in seconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct Terms {
    /// X_A, passes weighted with the mean iterations of their cells; α, seconds per iteration.
    pub alpha: f64,
    /// X_V, passes; ν, seconds per cell that is explored or evaluated.
    pub nu: f64,
    /// X_T, passes of filling; γ, seconds per cell that is filled.
    pub gamma: f64,
    /// X_K, passes and launches from the host; κ, seconds each.
    pub kappa: f64,
    /// X_B, regions and pieces of regions per worker; β, seconds each.
    pub beta: f64,
    /// X_D, waves of launches from inside a run (DP); δ, seconds each.
    pub delta: f64,
}

impl Terms {
    /// What the constants are called.
    pub const NAMES: [&'static str; 6] = ["alpha", "nu", "gamma", "kappa", "beta", "delta"];

    /// In the order of the names.
    pub fn array(self) -> [f64; 6] {
        [self.alpha, self.nu, self.gamma, self.kappa, self.beta, self.delta]
    }

    /// From the order of the names.
    pub fn of([alpha, nu, gamma, kappa, beta, delta]: [f64; 6]) -> Self {
        Self { alpha, nu, gamma, kappa, beta, delta }
    }

    /// t: features times constants.
    pub fn times(self, constants: Self) -> f64 {
        self.array().iter().zip(constants.array()).map(|(x, theta)| x * theta).sum()
    }

    /// The features of a run.
    pub fn new(strategy: StrategyKind, scheme: ParallelScheme, machine: Machine, levels: &[LevelWork]) -> Self {
        if strategy == StrategyKind::Exhaustive {
            return Self::exhaustive(machine, levels);
        }
        let mut terms = Self { kappa: 1.0, ..Self::default() };
        let (mut blocks, mut settling) = (0.0, 0);
        for level in levels {
            let shared = scheme == ParallelScheme::Mbr;
            let settle = |regions, cells| match shared {
                true => machine.spread(cells),
                false => machine.by_region(regions, cells),
            };
            let visits = machine.by_region(level.regions, level.explored) + settle(level.leaves, level.evaluated);
            terms.weigh(level, visits);
            terms.gamma += settle(level.filled, level.filled_cells);
            blocks += level.regions;
            if shared {
                blocks += machine.pieces(level.filled, level.filled_cells, FILL_CELLS);
                blocks += machine.pieces(level.leaves, level.evaluated, LEAF_CELLS);
                settling += machine.settling(level.filled + level.leaves > 0.0);
            }
            if strategy == StrategyKind::Dp {
                terms.delta += (level.divided / machine.launches()).ceil();
            }
        }
        if strategy == StrategyKind::Ask {
            terms.kappa = (levels.len() + settling) as f64;
        }
        terms.beta = blocks / machine.workers();
        terms
    }

    fn exhaustive(machine: Machine, levels: &[LevelWork]) -> Self {
        let mut terms = Self { kappa: 1.0, ..Self::default() };
        for level in levels {
            terms.weigh(level, machine.spread(level.evaluated));
        }
        terms
    }

    /// Adds passes, and their iterations at the level's mean; without iterations a pass is worth one.
    fn weigh(&mut self, level: &LevelWork, passes: f64) {
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
            regions: 16.0,
            divided: 10.0,
            filled: 6.0,
            leaves: 0.0,
            explored: 800.0,
            filled_cells: 60_000.0,
            evaluated: 0.0,
            iterations: Some(8000.0),
        },
        LevelWork {
            regions: 40.0,
            divided: 0.0,
            filled: 30.0,
            leaves: 10.0,
            explored: 1200.0,
            filled_cells: 75_000.0,
            evaluated: 25_000.0,
            iterations: Some(524_000.0),
        },
    ];

    #[test]
    fn threads_share_cells() {
        let machine = Machine::Cpu { threads: 2 };
        let of = |strategy, scheme| Terms::new(strategy, scheme, machine, &LEVELS).array();
        let ask = [4000.0 + 262_000.0, 400.0 + 13_100.0, 67_500.0, 2.0, 28.0, 0.0];
        assert_eq!(of(StrategyKind::Ask, ParallelScheme::Sbr), ask);
        assert_eq!(of(StrategyKind::Ask, ParallelScheme::Mbr), ask);
        assert_eq!(of(StrategyKind::Dp, ParallelScheme::Sbr), [ask[0], ask[1], ask[2], 1.0, ask[4], 5.0]);
        // Every cell, each with its label's work.
        let all =
            LevelWork { regions: 1.0, leaves: 1.0, evaluated: 1e6, iterations: Some(2e8), ..LevelWork::default() };
        let terms = Terms::new(StrategyKind::Exhaustive, ParallelScheme::Sbr, machine, &[all]);
        assert_eq!(terms.array(), [1e8, 5e5, 0.0, 1.0, 0.0, 0.0]);
    }

    #[test]
    fn blocks_round_up() {
        let machine = Machine::Gpu { multiprocessors: 2, threads: 512, block: 128 };
        let of = |scheme| Terms::new(StrategyKind::Ask, scheme, machine, &LEVELS);
        let (sbr, mbr) = (of(ParallelScheme::Sbr), of(ParallelScheme::Mbr));
        // 8 blocks resident. Explored: 1 pass, 2 waves; 1 pass, 5 waves. Leaves of 2500 cells: 20 passes, 2 waves.
        assert_eq!(sbr.nu, 2.0 + 5.0 + 40.0);
        // All leaves: 25 000 cells on 1024 threads.
        assert_eq!(mbr.nu, 2.0 + 5.0 + 25.0);
        assert_eq!(sbr.gamma, 79.0 + 20.0 * 4.0);
        // 10 000 cells in blocks of 2048, 2500 in two of them; leaves in blocks of 256.
        assert_eq!(mbr.beta * 8.0, 56.0 + 6.0 * 5.0 + 30.0 * 2.0 + 10.0 * 10.0);
        assert_eq!((sbr.kappa, mbr.kappa), (2.0, 4.0));
    }

    #[test]
    fn without_iterations_a_pass_is_one() {
        let level = LevelWork { iterations: None, ..LEVELS[0] };
        let terms = Terms::new(StrategyKind::Ask, ParallelScheme::Sbr, Machine::Cpu { threads: 1 }, &[level]);
        assert_eq!((terms.alpha, terms.nu), (800.0, 0.0));
    }
}
