//! Block search: a block has so many items, among which its threads search those of equally many units each.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct BlockSearch;

const ITEMS: Knob = Knob { name: "items", what: "items of a block", default: 4096, range: [32, 4096], multiple: 1 };

impl Definition for BlockSearch {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK, ITEMS]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let (block, items) = (asked.knob("block"), asked.knob("items"));
        let defines = vec![("CHUNK", items)];
        let blocks = asked.facts.items.div_ceil(items.into());
        Ok(BalanceLayout {
            header: "balance/block_search.cuh",
            defines,
            block,
            blocks,
            prefix: true,
            ..BalanceLayout::default()
        })
    }
}
