//! `closed`: as `border`, on the region enlarged by the next layer of cells on its upper sides, clipped to the domain.
//! Neighbours then share their lines, and each line has to be evaluated once.

use crate::geometry::Region;
use crate::rule::definition::{Deciding, surface};

/// Its twin among the kernels.
#[cfg(feature = "cuda")]
pub(super) const TWIN: &str = "rules/closed.cuh";

/// False, as under `border`.
pub(super) const PROVES: bool = false;

/// False: cells decide what is not proven.
pub(super) const CERTIFIES: bool = false;

/// The cells that decide `region` of a domain of `size` cells.
#[inline]
pub(super) fn deciding<const K: usize>(region: &Region<K>, size: [u32; K]) -> Deciding<K> {
    Deciding { region: region.closure(size), faces: true }
}

/// How many cells decide a region with these sides.
pub(super) fn cost(sides: impl Iterator<Item = f64> + Clone) -> f64 {
    surface(sides.map(|side| side + 1.0))
}
