//! Kernels: how many launches a strategy makes, from the counts of the levels.

use serde::Serialize;

use super::{Counts, ModelError, Ratio};

/// How many kernels each strategy launches.
///
/// ```
/// use orthant_lab::model::{Counts, Kernels, Ratio};
///
/// // 16 regions, 4 of them mixed, and their 16 children: one kernel per level, or one per region.
/// let counts = Counts::measured(Ratio::whole(16u32), Ratio::whole(4u32), &[4])?;
/// let kernels = Kernels::new(&counts, 128)?;
/// assert_eq!((kernels.ask_sbr, kernels.nodes, kernels.dp), (2, 32.0, 33.0));
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Kernels {
    /// Σ_{i<τ} N_i, the regions examined or evaluated.
    pub nodes: f64,
    /// DP in which every region launches one child (fill, evaluate or divide): 1 + nodes.
    #[serde(rename = "dp_total_kernels")]
    pub dp: f64,
    /// DP that launches only to explore: 1 + Σ_{i<τ−1} a_i.
    #[serde(rename = "dp_explore_kernels")]
    pub dp_explore: f64,
    /// ASK-SBR: τ.
    #[serde(rename = "ask_sbr_kernels")]
    pub ask_sbr: usize,
    /// ASK-MBR: at most 2τ.
    #[serde(rename = "ask_mbr_kernels_max")]
    pub ask_mbr: usize,
    /// Waves of DP with so many kernels at once: Σ_i ⌈N_i/concurrent⌉.
    pub dp_waves: f64,
}

/// Kernels that run at once on the devices of the papers.
pub const CONCURRENT: u64 = 128;

impl Kernels {
    /// Counts launches on a device that runs `concurrent` kernels at once.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if that is 0.
    pub fn new(counts: &Counts, concurrent: u64) -> Result<Self, ModelError> {
        if concurrent == 0 {
            return Err(ModelError::parameter("concurrent", concurrent, "at least 1"));
        }
        let nodes = counts.regions().iter().copied().sum::<Ratio>();
        Ok(Self {
            nodes: nodes.to_f64(),
            dp: (Ratio::ONE + nodes).to_f64(),
            dp_explore: (Ratio::ONE + counts.active().iter().copied().sum()).to_f64(),
            ask_sbr: counts.levels(),
            ask_mbr: 2 * counts.levels(),
            dp_waves: waves(counts, concurrent),
        })
    }
}

/// Σ_i ⌈N_i/concurrent⌉.
pub(super) fn waves(counts: &Counts, concurrent: u64) -> f64 {
    counts.regions().iter().map(|&regions| (regions / Ratio::whole(concurrent)).ceil()).sum()
}
