//! The overhead extension (ours, not the paper's): what a run should take as a linear function of five features.
//!
//! t = α·X_A + γ·X_T + κ·X_K + β·X_B + δ·X_D, with the features computed from counted or expected N_i and
//! e_i = N_i − a_i (a_{τ−1} = 0), q multiprocessors of c cores, blocks of b threads. S = λ·A is absorbed.
//!
//! The paper's model cannot let SBR win over MBR; the cost of scheduling blocks, β, can: X_B is where they differ most.

use serde::Serialize;

use super::geometry::volume;
use super::{Counts, Geometry, ModelError, Processors, Ratio, Surface, kernels};
use orthant::registry;

registry! {
    /// Strategy and parallel scheme of a run.
    pub enum Variant("variant") {
        /// Adaptive serial kernels, a block per region.
        AskSbr = "ASK-SBR",
        /// Adaptive serial kernels, several blocks per region.
        AskMbr = "ASK-MBR",
        /// Dynamic parallelism, a block per region.
        DpSbr = "DP-SBR",
        /// Dynamic parallelism, several blocks per region.
        DpMbr = "DP-MBR",
        /// Every cell, one kernel.
        Exhaustive = "EX",
    }
}

/// The features of one run.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Features {
    /// X_A, passes of the application over the cores: Σ_{i<τ−1} ⌈σ_i/c⌉·⌈N_i/q⌉ and the last level, ⌈s^k/c⌉·⌈N/q⌉ (SBR)
    /// or ⌈N·s^k/(q·c)⌉ (MBR).
    #[serde(rename = "xA")]
    pub application: f64,
    /// X_T, passes of filling over i < τ−1: Σ ⌈s_i^k/c⌉·⌈e_i/q⌉ (SBR) or Σ ⌈e_i·s_i^k/(q·c)⌉ (MBR).
    #[serde(rename = "xT")]
    pub terminal: f64,
    /// X_K, launches from the host: τ (ASK-SBR), τ + levels with e_i > 0, the last included (ASK-MBR), 1 (DP, EX).
    #[serde(rename = "xK")]
    pub kernels: f64,
    /// X_B, blocks per multiprocessor over all levels: Σ N_i (ASK-SBR), Σ (N_i + e_i) (DP-SBR),
    /// Σ (N_i + e_i·⌈s_i^k/b⌉) (MBR), each over q; ⌈n^k/b⌉/q (EX).
    #[serde(rename = "xB")]
    pub blocks: f64,
    /// X_D, waves of launches from the device: Σ_i ⌈N_i/128⌉ (DP), else 0.
    #[serde(rename = "xD")]
    pub device_launches: f64,
}

impl Features {
    /// The features of a run with these counts, in blocks of `block` threads.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if `block` is 0.
    pub fn new(
        geometry: &Geometry,
        counts: &Counts,
        processors: Processors,
        block: u64,
        variant: Variant,
        surface: Surface,
    ) -> Result<Self, ModelError> {
        if block == 0 {
            return Err(ModelError::parameter("block", block, "at least 1 thread"));
        }
        let run = Setting { geometry, counts, processors, block: Ratio::whole(block), surface };
        Ok(match variant {
            Variant::Exhaustive => run.exhaustive(),
            Variant::AskSbr => {
                Self { kernels: counts.levels() as f64, blocks: run.blocks(|_| Ratio::ZERO), ..run.sbr() }
            }
            Variant::DpSbr => Self { blocks: run.blocks(|i| counts.uniform(i)), ..run.launched(run.sbr()) },
            Variant::AskMbr => {
                let filling = (0..counts.levels()).filter(|&i| counts.uniform(i).is_positive()).count();
                Self { kernels: (counts.levels() + filling) as f64, ..run.mbr() }
            }
            Variant::DpMbr => run.launched(run.mbr()),
        })
    }
}

/// What the features of a run are made of.
struct Setting<'a> {
    geometry: &'a Geometry,
    counts: &'a Counts,
    processors: Processors,
    block: Ratio,
    surface: Surface,
}

impl Setting<'_> {
    /// s_i^k.
    fn cells(&self, i: usize) -> Ratio {
        volume(&self.geometry.sides(i as i32))
    }

    /// ⌈regions/q⌉.
    fn waves(&self, regions: Ratio) -> f64 {
        (regions / self.processors.q()).ceil()
    }

    /// ⌈cells/c⌉ of a region on its multiprocessor.
    fn passes(&self, cells: Ratio) -> f64 {
        (cells / self.processors.c()).ceil()
    }

    /// ⌈cells/(q·c)⌉ over the whole machine.
    fn spread(&self, cells: Ratio) -> f64 {
        (cells / self.processors.cores()).ceil()
    }

    /// Σ_i (N_i + further blocks) / q over all levels.
    fn blocks(&self, further: impl Fn(usize) -> Ratio) -> f64 {
        let blocks: Ratio = (0..self.counts.levels()).map(|i| self.counts.regions()[i] + further(i)).sum();
        (blocks / self.processors.q()).to_f64()
    }

    /// X_A of the explored levels.
    fn queries(&self) -> f64 {
        let passes = |i: usize| self.passes(self.surface.queried(&self.geometry.sides(i as i32)));
        (0..self.counts.levels() - 1).map(|i| passes(i) * self.waves(self.counts.regions()[i])).sum()
    }

    /// X_A and X_T with a block per region.
    fn sbr(&self) -> Features {
        let last = self.counts.levels() - 1;
        let on_one = |i: usize, regions: Ratio| self.passes(self.cells(i)) * self.waves(regions);
        Features {
            application: self.queries() + on_one(last, self.counts.regions()[last]),
            terminal: (0..last).map(|i| on_one(i, self.counts.uniform(i))).sum(),
            ..NOTHING
        }
    }

    /// X_A, X_T and X_B with several blocks per region.
    fn mbr(&self) -> Features {
        let last = self.counts.levels() - 1;
        let on_all = |i: usize, regions: Ratio| self.spread(regions * self.cells(i));
        let per_region = |i: usize| (self.cells(i) / self.block).round_up();
        Features {
            application: self.queries() + on_all(last, self.counts.regions()[last]),
            terminal: (0..last).map(|i| on_all(i, self.counts.uniform(i))).sum(),
            blocks: self.blocks(|i| self.counts.uniform(i) * per_region(i)),
            ..NOTHING
        }
    }

    /// Launched from the device: one kernel of the host, and the waves of the others.
    fn launched(&self, features: Features) -> Features {
        Features { kernels: 1.0, device_launches: kernels::waves(self.counts, kernels::CONCURRENT), ..features }
    }

    fn exhaustive(&self) -> Features {
        let cells = self.geometry.cells();
        let blocks = (cells / self.block).round_up() / self.processors.q();
        Features { application: self.spread(cells), kernels: 1.0, blocks: blocks.to_f64(), ..NOTHING }
    }
}

const NOTHING: Features = Features { application: 0.0, terminal: 0.0, kernels: 0.0, blocks: 0.0, device_launches: 0.0 };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Kernels;

    /// The published Mandelbrot counts, n = 1024, g = r = 2, B = 1.
    fn mandelbrot(variant: Variant) -> Features {
        let geometry = Geometry::uniform(&[1024; 2], 2, 2, 1).unwrap();
        let active = [4, 14, 50, 170, 541, 1681, 4872, 13720];
        let counts = Counts::measured(geometry.initial_regions(), geometry.children(), &active).unwrap();
        Features::new(&geometry, &counts, Processors::new(128, 64).unwrap(), 256, variant, Surface::Faces).unwrap()
    }

    #[test]
    fn counted_runs_have_features() {
        let of = mandelbrot;
        assert_eq!((of(Variant::AskSbr).kernels, of(Variant::AskMbr).kernels), (9.0, 9.0 + 8.0));
        assert_eq!((of(Variant::DpSbr).kernels, of(Variant::DpSbr).device_launches), (1.0, 663.0));
        assert_eq!(of(Variant::AskSbr).blocks, 84_212.0 / 128.0);
        let uniform = 84_212.0 - (4 + 14 + 50 + 170 + 541 + 1681 + 4872 + 13720) as f64;
        assert_eq!(of(Variant::DpSbr).blocks, (84_212.0 + uniform) / 128.0);
        assert_eq!(of(Variant::AskSbr).application, of(Variant::DpSbr).application);
        assert!(of(Variant::AskMbr).application < of(Variant::AskSbr).application);
        let all = of(Variant::Exhaustive);
        assert_eq!([all.application, all.kernels, all.blocks], [128.0, 1.0, 32.0]);
        assert_eq!([all.terminal, all.device_launches], [0.0, 0.0]);
    }

    #[test]
    fn a_block_has_threads() {
        let geometry = Geometry::uniform(&[64; 2], 2, 2, 1).unwrap();
        let counts = Counts::expected(Ratio::ONE, Ratio::ONE, &[]);
        let machine = Processors::new(1, 1).unwrap();
        let none = Features::new(&geometry, &counts, machine, 0, Variant::AskSbr, Surface::Faces).unwrap_err();
        assert_eq!(none.to_string(), "block = 0: must be at least 1 thread");
        assert!(Kernels::new(&counts, 0).is_err());
    }
}
