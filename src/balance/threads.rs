//! Work-items to threads: a thread per item.

use rayon::prelude::*;

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, HostBalancer, Knob, LayoutAsked};
use crate::balance::expand::UnitRun;

pub(super) struct Threads;

impl Definition for Threads {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let block = asked.knob("block");
        let blocks = asked.facts.items.div_ceil(block.into()).min(asked.processors.busy(block));
        Ok(BalanceLayout { header: "balance/threads.cuh", block, blocks, prefix: true, ..BalanceLayout::default() })
    }

    /// Threads that are done take items from others.
    fn on_cpu(&self) -> Option<HostBalancer> {
        Some(|prefix, body| {
            prefix.par_windows(2).enumerate().filter(|(_, ends)| ends[0] < ends[1]).for_each(|(item, ends)| {
                body(UnitRun { item: item as u32, ranks: 0..ends[1] - ends[0], unit: ends[0] });
            });
        })
    }
}
