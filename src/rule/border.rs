//! `border`: every cell on the region's own faces has the same label. The papers' rule, and a heuristic: a uniform border
//! can hide a mixed inside.

use crate::geometry::Region;
use crate::rule::definition::{Deciding, surface};

/// Its twin among the kernels.
#[cfg(feature = "cuda")]
pub(super) const TWIN: &str = "rules/border.cuh";

/// False: what is proven of the inside says more than the rule looks at, which is for those who ask for it.
pub(super) const PROVES: bool = false;

/// False: cells decide what is not proven.
pub(super) const CERTIFIES: bool = false;

/// The cells that decide `region` of a domain.
#[inline]
pub(super) fn deciding<const K: usize>(region: &Region<K>, _: [u32; K]) -> Deciding<K> {
    Deciding { region: *region, faces: true }
}

/// How many cells decide a region with these sides.
pub(super) fn cost(sides: impl Iterator<Item = f64> + Clone) -> f64 {
    surface(sides)
}
