// Lists of terminal regions.
//
// A list has parts: regions of one level that are all uniform, or all leaves. `regions` of them have `pieces` places each, one as items of
// a balancer, several as blocks that share a brick; the places of a part begin at `first`, and those of the parts follow each other.
#pragma once

#include "balance/regions.cuh"

// What a place stands for: which entry of which part, and which share of it.
struct Listed {
    const ExploreArgs& part;
    u64 entry;
    Share share;

    DEVICE bool leaf() const { return part.leaves != 0; }
    // The number that the list has there.
    DEVICE u32 number() const { return ((const u32*)(leaf() ? part.leaves : part.fills))[entry]; }
};

// Of a list with one part.
DEVICE Listed listed_in(const ExploreArgs& part, u64 place) {
    return {part, place / part.pieces, {u32(place % part.pieces), part.pieces}};
}

DEVICE Listed listed(const ExploreArgs* part, u64 place) {
    while (place >= part->first + part->regions * part->pieces) part++;
    return listed_in(*part, place - part->first);
}

// Item number `item` of a list whose part is `part`: a region of its level, uniform with a value or a leaf.
DEVICE void put_item(const RunArgs& run, const ExploreArgs& part, u64 item, Region region, Value value) {
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
