//! Two-phase search: equal units for all threads, found block by block and then thread by thread.

use crate::balance::definition::{BalanceLayout, Definition, HostBalancer, Knob, LayoutAsked, block};
use crate::balance::expand::{pieces, walk};
use crate::parallel;

pub(super) struct TwoPhase;

/// Units per thread and chunk. An odd number, so that neighbours do not meet in one bank of shared memory; 7 is the best of 7, 11 and
/// 15 on an H200 for two-phase and multi-phase, and within 3 % of it for merge path (docs/results/balance.md).
pub(super) const UNITS: Knob =
    Knob { name: "units", what: "units per thread and round", default: 7, range: [1, 16], multiple: 1 };

impl Definition for TwoPhase {
    fn knobs(&self) -> &'static [Knob] {
        const { &[block(256, 512), UNITS] }
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let (block, units) = (asked.knob("block"), asked.knob("units"));
        let chunks = asked.facts.units.div_ceil(u64::from(block * units));
        Ok(BalanceLayout {
            header: "balance/two_phase.cuh",
            defines: vec![("UNITS", units), ("CHUNK", block * units), ("INTERPOLATE", 0)],
            block,
            blocks: chunks,
            prefix: true,
            chunks: Some(chunks),
            ..BalanceLayout::default()
        })
    }

    /// Equal units per piece, each with one search.
    fn on_cpu(&self) -> Option<HostBalancer> {
        Some(|prefix, body| {
            let units = prefix[prefix.len() - 1];
            let (pieces, each) = pieces(units, 1024);
            parallel::each(pieces, &|piece| {
                let first = piece as u64 * each;
                // The last of items that begin together owns the unit.
                let item = prefix.partition_point(|&start| start <= first) - 1;
                walk(prefix, item, first..units.min(first + each), body);
            });
        })
    }
}
