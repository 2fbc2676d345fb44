//! What a table of regions takes, and what exploring a region leaves.

use crate::plan::Plan;

/// What exploring a region decided: a label, or [`MIXED`].
pub(crate) type Outcome = u32;

/// The outcome of a mixed region; no label can have this value.
pub(crate) const MIXED: Outcome = u32::MAX;

/// Bytes that a table of `len` regions of `level` takes: a code each, and a payload where fields carry one.
pub(crate) fn table_bytes<const K: usize>(plan: &Plan<K>, level: u32, payloads: bool, len: u128) -> u128 {
    len * (u128::from(plan.code_bytes(level)) + if payloads { 8 } else { 0 })
}
