//! What a table of regions takes.

use crate::plan::Plan;

/// Bytes that a table of `len` regions of `level` takes: a code each, and a payload where fields carry one.
pub(crate) fn table_bytes<const K: usize>(plan: &Plan<K>, level: u32, payloads: bool, len: u128) -> u128 {
    len * (u128::from(plan.code_bytes(level)) + if payloads { 8 } else { 0 })
}
