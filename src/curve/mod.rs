//! Orders of the regions of a level: the map from region coordinates to a scalar code and back.
use crate::registry::registry;

/// What is wrong with a curve for a given {g, r} and depth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// Hilbert needs r to be a power of two.
    #[error("--curve hilbert: -r {r} on axis {axis} is not a power of two; use --curve morton or canonical")]
    RadixNotPowerOfTwo { axis: usize, r: u32 },
}

registry! {
    /// The curve that orders the regions of a level.
    pub enum CurveKind("curve") {
        /// Row-major over the level's grid.
        Canonical = "canonical",
        /// Z-order.
        Morton = "morton",
        /// The Butz/Hamilton Hilbert curve over a glued forest.
        Hilbert = "hilbert",
    }
}

/// One curve over the levels of one scheme.
pub trait Encoding<const K: usize>: Send + Sync {
    /// The code of the region at `coords` on `level`.
    fn encode(&self, level: u32, coords: [u32; K]) -> u64;
    /// The coordinates of `code` on `level`.
    fn decode(&self, level: u32, code: u64) -> [u32; K];
    /// The code, on `level + 1`, of child `i` (0 ≤ i < ∏r, in code order) of `code` on `level`.
    fn child(&self, level: u32, code: u64, i: u64) -> u64;
    /// Bits that the codes of `level` need.
    fn bits(&self, level: u32) -> u32;
}
