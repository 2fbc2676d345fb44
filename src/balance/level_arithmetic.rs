//! Level arithmetic: where items of one size lie together, as those of a level, a unit's item is a quotient.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, Multiprocessors};
use crate::balance::facts::Facts;
use crate::balance::items::Items;

pub(super) struct LevelArithmetic;

impl Definition for LevelArithmetic {
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
        let classes = facts.classes.clone().ok_or("items of one size have to lie together, in at most 16 classes")?;
        let block = told("block");
        let blocks = facts.units.div_ceil(block.into()).min(processors.busy(block));
        Ok(BalanceLayout { header: "balance/level_arithmetic.cuh", block, blocks, classes, ..BalanceLayout::default() })
    }
}
