//! Level arithmetic: where items of one size lie together, as those of a level, a unit's item is a quotient.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct LevelArithmetic;

impl Definition for LevelArithmetic {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let classes = asked
            .facts
            .classes
            .clone()
            .ok_or("items of one size have to lie together, in at most 16 classes, as those of a level do")?;
        let block = asked.knob("block");
        let blocks = asked.facts.units.div_ceil(block.into()).min(asked.processors.busy(block));
        Ok(BalanceLayout { header: "balance/level_arithmetic.cuh", block, blocks, classes, ..BalanceLayout::default() })
    }
}
