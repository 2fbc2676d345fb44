// Terminal regions as the items of a balancer.
#pragma once

struct RegionItem {
    Region region; // in units of 16 bytes along x if it is `wide`
    Value value;   // of a uniform one
    u32 wide;
};
static_assert(sizeof(RegionItem) == REGION_ITEM_BYTES, "the host takes memory for them");

// Item number `item` of a list whose part is `part`: a region of its level, uniform with a value or a leaf.
DEVICE void put_item(const RunArgs& run, const LaunchArgs& part, u64 item, Region region, Value value) {
    const bool leaf = part.leaves != 0;
    // What is beyond the window has no cells; leaves are told where their cells go one by one.
    if (!leaf && run.windowed && !clip(run, region)) region.extent[0] = 0;
    if (part.wide) {
        region.corner[0] /= QUAD_CELLS;
        region.extent[0] /= QUAD_CELLS;
    }
    ((RegionItem*)part.items)[item] = {region, value, part.wide};
    ((u32*)part.sizes)[item] = part.units;
}
