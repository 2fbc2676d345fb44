//! `certified`: the field proves that every cell has the same label. No cell is looked at, and what is not proven is mixed, so
//! that no cell can be wrong.

use crate::geometry::Region;
use crate::rule::definition::Deciding;

/// Its twin among the kernels.
#[cfg(feature = "cuda")]
pub(super) const TWIN: &str = "rules/certified.cuh";

/// True: there is nothing else.
pub(super) const PROVES: bool = true;

/// True.
pub(super) const CERTIFIES: bool = true;

/// The cells that a proof of `region` speaks of.
#[inline]
pub(super) fn deciding<const K: usize>(region: &Region<K>, _: [u32; K]) -> Deciding<K> {
    Deciding { region: *region, faces: false }
}

/// Taken for one cell of those that are looked at, of which there are none: what a proof takes is not in the model.
pub(super) fn cost(_: impl Iterator<Item = f64> + Clone) -> f64 {
    1.0
}
