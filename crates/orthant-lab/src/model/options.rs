//! Variants of the model.

use super::geometry::Surface;
use super::tau::TauPolicy;
use orthant::registry;

registry! {
    /// Where the query's ceiling stands.
    #[derive(Default)]
    pub enum QueryCeil("query ceiling") {
        /// A·⌈σ/c⌉: every core computes whole cells.
        #[default]
        Outside = "outside",
        /// ⌈A·σ/c⌉.
        Inside = "inside",
    }
}

registry! {
    /// How regions fill waves of q blocks.
    #[derive(Default)]
    pub enum Wave("wave") {
        /// ⌈G·R^i/q⌉·P^i, as printed; falls below one wave where P^i is small.
        #[default]
        Full = "full",
        /// ⌈N_i/q⌉ with N_i = G·R^i·∏_{j<i} P_j, and ceilings on the fill and the last level of MBR.
        Active = "active",
    }
}

/// Variants of the equations; the default is the paper's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// How a query counts the border.
    pub surface: Surface,
    /// Where its ceiling stands.
    pub query_ceil: QueryCeil,
    /// How regions fill waves.
    pub wave: Wave,
    /// What τ < 1 means.
    pub tau_policy: TauPolicy,
}
