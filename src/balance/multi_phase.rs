//! Multi-phase mapping: as two-phase search, in several rounds per block, and with neighbouring units for neighbouring threads.

use crate::balance::definition::{BalanceLayout, Definition, Knob, LayoutAsked, block};
use crate::balance::two_phase::UNITS;

pub(super) struct MultiPhase;

/// Searches per thread and chunk: IS of the paper, which has 2 to 5 as the best; on an H200 1 is, on every list
/// (docs/results/balance.md).
const ROUNDS: Knob =
    Knob { name: "rounds", what: "searches per thread and chunk", default: 1, range: [1, 10], multiple: 1 };

/// Sizes that are so much alike let chunks be found by interpolation: least deviation and mean for a search by halves.
const ALIKE: [f64; 2] = [8.0, 9.0];

impl Definition for MultiPhase {
    fn knobs(&self) -> &'static [Knob] {
        const { &[block(256, 512), UNITS, ROUNDS] }
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let (block, units, rounds) = (asked.knob("block"), asked.knob("units"), asked.knob("rounds"));
        let chunk = block * units * rounds;
        let chunks = asked.facts.units.div_ceil(chunk.into());
        // Where the product below 2^64 that interpolation takes is sure.
        let short = asked.facts.units.checked_mul(asked.facts.items).is_some();
        let alike = short && asked.facts.deviation < ALIKE[0] && asked.facts.mean < ALIKE[1];
        Ok(BalanceLayout {
            header: "balance/multi_phase.cuh",
            defines: vec![("UNITS", units), ("ROUNDS", rounds), ("CHUNK", chunk), ("INTERPOLATE", alike.into())],
            block,
            blocks: chunks,
            prefix: true,
            chunks: Some(chunks),
            ..BalanceLayout::default()
        })
    }
}
