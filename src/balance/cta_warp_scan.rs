//! A block, a warp, or a scan, by an item's size.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, Multiprocessors};
use crate::balance::facts::Facts;
use crate::balance::items::Items;

pub(super) struct CtaWarpScan;

impl Definition for CtaWarpScan {
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
        Ok(BalanceLayout {
            header: "balance/cta_warp_scan.cuh",
            block,
            blocks,
            prefix: true,
            ..BalanceLayout::default()
        })
    }
}
