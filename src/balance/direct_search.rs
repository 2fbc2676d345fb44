//! Direct search: every unit's item is searched among all.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, Multiprocessors};
use crate::balance::facts::Facts;
use crate::balance::items::Items;

pub(super) struct DirectSearch;

impl Definition for DirectSearch {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(
        &self,
        _: &Items,
        facts: &Facts,
        told: &dyn Fn(&str) -> u32,
        processors: Multiprocessors,
    ) -> Result<BalanceLayout, &'static str> {
        let block = told("block");
        let blocks = facts.units.div_ceil(block.into()).min(processors.busy(block));
        Ok(BalanceLayout {
            header: "balance/direct_search.cuh",
            block,
            blocks,
            prefix: true,
            ..BalanceLayout::default()
        })
    }
}
