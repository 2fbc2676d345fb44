//! Merge path: equal steps over units and items, so that empty items cannot pile up either.

use crate::balance::definition::{BalanceLayout, Definition, HostBalancer, Knob, LayoutAsked, block};
use crate::balance::expand::{pieces, walk};
use crate::balance::two_phase::UNITS;
use crate::parallel;

pub(super) struct MergePath;

/// Items that are left behind before a step.
fn left_behind(prefix: &[u64], step: u64) -> usize {
    let (items, units) = (prefix.len() as u64 - 1, prefix[prefix.len() - 1]);
    let (mut low, mut high) = (step.saturating_sub(units), step.min(items));
    while low < high {
        let middle = low + (high - low) / 2;
        if prefix[middle as usize + 1] < step - middle {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low as usize
}

impl Definition for MergePath {
    fn knobs(&self) -> &'static [Knob] {
        const { &[block(256, 256), UNITS] }
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let (block, units) = (asked.knob("block"), asked.knob("units"));
        let chunks = (asked.facts.units + asked.facts.items).div_ceil(u64::from(block * units));
        Ok(BalanceLayout {
            header: "balance/merge_path.cuh",
            defines: vec![("UNITS", units), ("CHUNK", block * units)],
            block,
            blocks: chunks,
            prefix: true,
            chunks: Some(chunks),
            ..BalanceLayout::default()
        })
    }

    fn on_cpu(&self) -> Option<HostBalancer> {
        Some(|prefix, body| {
            let (items, units) = (prefix.len() as u64 - 1, prefix[prefix.len() - 1]);
            let (pieces, each) = pieces(items + units, 2048);
            parallel::each(pieces, &|piece| {
                let [first, last] = [piece as u64, piece as u64 + 1].map(|edge| (edge * each).min(items + units));
                let [from, to] = [first, last].map(|step| left_behind(prefix, step));
                walk(prefix, from, first - from as u64..last - to as u64, body);
            });
        })
    }
}
