//! Tile search: items are cut in equal tiles, and a block searches its tile's item.

use crate::balance::definition::{BLOCK, BalanceLayout, Definition, Knob, LayoutAsked};

pub(super) struct TileSearch;

const TILE: Knob = Knob { name: "tile", what: "units per tile", default: 1024, range: [32, 1 << 16], multiple: 1 };

impl Definition for TileSearch {
    fn knobs(&self) -> &'static [Knob] {
        &[BLOCK, TILE]
    }

    fn layout(&self, asked: &LayoutAsked<'_>) -> Result<BalanceLayout, &'static str> {
        let (block, tile) = (asked.knob("block"), asked.knob("tile"));
        // As many tiles as there can be at most: how many there are, only the device knows.
        let tiles = asked.facts.items - asked.facts.empty + asked.facts.units / u64::from(tile);
        Ok(BalanceLayout {
            header: "balance/tile_search.cuh",
            defines: vec![("CHUNK", tile)],
            block,
            blocks: tiles.min(asked.processors.busy(block)),
            prefix: true,
            tile: Some(tile),
            ..BalanceLayout::default()
        })
    }
}
