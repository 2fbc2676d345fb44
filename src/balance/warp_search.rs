//! Local warp search: a warp has 32 items, among which it searches those of its units.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct WarpSearch;

impl Definition for WarpSearch {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let block = asked.knob("block");
        let blocks = asked.facts.items.div_ceil(block.into());
        Ok(BalanceLayout { header: "balance/warp_search.cuh", block, blocks, prefix: true, ..BalanceLayout::default() })
    }
}
