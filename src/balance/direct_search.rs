//! Direct search: every unit's item is searched among all.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct DirectSearch;

impl Definition for DirectSearch {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let block = asked.knob("block");
        let blocks = asked.facts.units.div_ceil(block.into()).min(asked.processors.busy(block));
        Ok(BalanceLayout {
            header: "balance/direct_search.cuh",
            block,
            blocks,
            prefix: true,
            ..BalanceLayout::default()
        })
    }
}
