//! `full`: every cell has the same label, which is exact. Fields that can prove regions answer without looking at cells.

use crate::geometry::Region;
use crate::rule::definition::Deciding;

/// Its twin among the kernels.
#[cfg(feature = "cuda")]
pub(super) const TWIN: &str = "rules/full.cuh";

/// True: a proof is of the very cells that the rule looks at.
pub(super) const PROVES: bool = true;

/// False: cells decide what is not proven.
pub(super) const CERTIFIES: bool = false;

/// The cells that decide `region`.
#[inline]
pub(super) fn deciding<const K: usize>(region: &Region<K>, _: [u32; K]) -> Deciding<K> {
    Deciding { region: *region, faces: false }
}

/// How many cells decide a region with these sides.
pub(super) fn cost(sides: impl Iterator<Item = f64> + Clone) -> f64 {
    sides.product()
}
