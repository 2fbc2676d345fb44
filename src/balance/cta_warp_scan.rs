//! A block, a warp, or a scan, by an item's size.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct CtaWarpScan;

impl Definition for CtaWarpScan {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let block = asked.knob("block");
        let blocks = asked.facts.items.div_ceil(block.into());
        Ok(BalanceLayout {
            header: "balance/cta_warp_scan.cuh",
            block,
            blocks,
            prefix: true,
            ..BalanceLayout::default()
        })
    }
}
