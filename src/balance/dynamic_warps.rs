//! Dynamic virtual warps and dynamic parallelism: virtual warps as wide as small items are long, and grids for the large ones.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};
use crate::balance::virtual_warps::fitting;

pub(super) struct DynamicWarps;

/// Units above which an item has a grid of its own: a launch from the device takes some 0.4 microseconds in a stream of them
/// (docs/results/h200.md), in which a warp does a few thousand units.
const THRESHOLD: Knob = Knob {
    name: "threshold",
    what: "units above which an item has a grid of its own",
    default: 4096,
    range: [32, 1 << 30],
    multiple: 1,
};

/// Blocks that may be in flight; each is a pending launch at most, of 2048 that a driver keeps.
const CREDITS: u32 = 1024;

impl Definition for DynamicWarps {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK, THRESHOLD]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let (block, threshold) = (asked.knob("block"), asked.knob("threshold"));
        let warp = fitting((asked.mean_of_small)(threshold.into()));
        Ok(BalanceLayout {
            header: "balance/dynamic_warps.cuh",
            defines: vec![("VIRTUAL_WARP", warp), ("THRESHOLD", threshold)],
            block,
            blocks: (asked.facts.items * u64::from(warp)).div_ceil(block.into()).min(asked.processors.busy(block)),
            prefix: true,
            credits: Some(CREDITS),
            ..BalanceLayout::default()
        })
    }
}
