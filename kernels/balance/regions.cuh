// Terminal regions as the items of a balancer.
#pragma once

struct RegionItem {
    Region region; // in units of 16 bytes along x if it is `wide`
    Value value;   // of a uniform one
    u32 wide;
};
static_assert(sizeof(RegionItem) == REGION_ITEM_BYTES, "the host takes memory for them");
