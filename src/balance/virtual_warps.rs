//! Virtual warps: so many threads per item.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct VirtualWarps;

/// Threads per item.
pub(super) const WARP: Knob = Knob {
    name: "warp",
    what: "threads per item; by default half the mean size of items that are not empty",
    default: 0,
    range: [2, 32],
    multiple: 0,
};

/// The power of two below half of `mean`, between 2 and 32.
pub(super) fn fitting(mean: f64) -> u32 {
    1 << ((mean / 2.0) as u32).clamp(2, 32).ilog2()
}

impl Definition for VirtualWarps {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK, WARP]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let block = asked.knob("block");
        let warp = match asked.knob("warp") {
            0 => fitting(asked.facts.units as f64 / (asked.facts.items - asked.facts.empty).max(1) as f64),
            warp => warp,
        };
        let blocks = (asked.facts.items * u64::from(warp)).div_ceil(block.into()).min(asked.processors.busy(block));
        let defines = vec![("VIRTUAL_WARP", warp)];
        Ok(BalanceLayout {
            header: "balance/virtual_warps.cuh",
            defines,
            block,
            blocks,
            prefix: true,
            ..BalanceLayout::default()
        })
    }
}
