//! Local warp search: a warp has 32 items, among which it searches those of its units.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, Multiprocessors};
use crate::balance::facts::Facts;
use crate::balance::items::Items;

pub(super) struct WarpSearch;

impl Definition for WarpSearch {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(
        &self,
        _: &Items,
        facts: &Facts,
        told: &dyn Fn(&str) -> u32,
        _: Multiprocessors,
    ) -> Result<BalanceLayout, &'static str> {
        let block = told("block");
        let blocks = facts.items.div_ceil(block.into());
        Ok(BalanceLayout { header: "balance/warp_search.cuh", block, blocks, prefix: true, ..BalanceLayout::default() })
    }
}
