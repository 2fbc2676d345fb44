//! What is wrong with a curve.

/// What is wrong with a curve for a given {g, r} and depth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// Hilbert splits every axis.
    #[error(
        "curve hilbert: r 1 on axis {axis}: it splits every axis; morton and canonical serve axes that are not split"
    )]
    UnsplitAxis {
        /// The axis.
        axis: usize,
    },
    /// Hilbert needs r to be a power of two.
    #[error("curve hilbert: r {r} on axis {axis} is not a power of two")]
    RadixNotPowerOfTwo {
        /// The axis.
        axis: usize,
        /// r on that axis.
        r: u32,
    },
    /// Hilbert needs the same r on every axis.
    #[error("curve hilbert: r must be the same on every axis, but is {first} on axis 0 and {r} on axis {axis}")]
    UnequalRadix {
        /// r on axis 0.
        first: u32,
        /// The axis that differs.
        axis: usize,
        /// r on that axis.
        r: u32,
    },
    /// Hilbert keeps a start state per tree of its forest.
    #[error("curve hilbert: g makes {trees} trees, more than 2^26")]
    TooManyTrees {
        /// Trees: ∏ g_j after the common power of two is taken out.
        trees: u128,
    },
    /// A level has 2^32 regions or more on one axis.
    #[error("level {level} has 2^32 regions or more on axis {axis}")]
    CoordOverflow {
        /// The axis.
        axis: usize,
        /// The level.
        level: u32,
    },
    /// A level has more than 2^64 regions.
    #[error("the codes of level {level} need {bits} bits, and a code has 64")]
    CodeOverflow {
        /// The level.
        level: u32,
        /// Bits that its codes would need.
        bits: u32,
    },
    /// A level below the deepest that the encoding was made for.
    #[error("level {level} is below the deepest, {deepest}")]
    LevelOutOfRange {
        /// The level.
        level: u32,
        /// The deepest level of the encoding.
        deepest: u32,
    },
    /// A coordinate outside the level's lattice.
    #[error("coordinate {value} on axis {axis} is outside the lattice of {extent} regions")]
    CoordOutOfRange {
        /// The axis.
        axis: usize,
        /// The coordinate.
        value: u32,
        /// Regions on the axis.
        extent: u32,
    },
    /// A code that the level does not have.
    #[error("code {code} is not below the {codes} codes of its level")]
    CodeOutOfRange {
        /// The code.
        code: u64,
        /// Codes of the level.
        codes: u128,
    },
}
