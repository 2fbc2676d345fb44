//! What the cost model cannot compute.

/// A parameter without a meaning, or a case in which an equation has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// A parameter out of its range.
    #[error("{symbol} = {value}: must be {allowed}")]
    Parameter {
        /// The symbol, as in the equations.
        symbol: &'static str,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: &'static str,
    },
    /// A parameter with the wrong number of axes.
    #[error("{symbol} has {found} axes; k = {k} takes {k}")]
    Axes {
        /// The symbol.
        symbol: &'static str,
        /// How many it has.
        found: usize,
        /// The number of dimensions.
        k: usize,
    },
    /// A list of one value per explored level that is too short.
    #[error("{symbol} has {found} values; tau = {tau} explores {needed} levels and needs one for each")]
    Profile {
        /// The symbol.
        symbol: &'static str,
        /// How many values there are.
        found: usize,
        /// How many are needed.
        needed: usize,
        /// The number of levels.
        tau: i32,
    },
    /// More mixed regions than there are regions.
    #[error("active = {active} on level {level}: at most the {regions} regions of that level can be mixed")]
    Active {
        /// The level.
        level: usize,
        /// The mixed regions.
        active: u64,
        /// The regions.
        regions: f64,
    },
    /// tau < 1 under the strict policy.
    #[error("tau = {tau}: g·B·r is more than n, so not one level has sides above B")]
    Infeasible {
        /// The literal tau.
        tau: i32,
    },
    /// P^(tau−1) with tau < 1 and a density that has no such power.
    #[error("tau = {tau}: P^(tau-1) is undefined for this P")]
    Undefined {
        /// The literal tau.
        tau: i32,
    },
    /// A count that leaves 128 bits, or a field of too many regions to walk.
    #[error("{what} is too large: {allowed}")]
    TooLarge {
        /// What.
        what: &'static str,
        /// The limit.
        allowed: &'static str,
    },
}

impl ModelError {
    pub(super) fn parameter(symbol: &'static str, value: impl std::fmt::Debug, allowed: &'static str) -> Self {
        // Not `Display`, which spells 1e308 out.
        Self::Parameter { symbol, value: format!("{value:?}"), allowed }
    }
}
