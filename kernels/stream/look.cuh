// Looking at regions: the labels of the cells that decide, by a warp that has several regions at a time. A region of which two labels
// were seen is of no interest any more.
#pragma once

// What a proof says of a region, if proofs are asked for.
DEVICE Fate foreseen(const FieldArgs& args, const Region& region) {
#ifdef PROVES
    if (ASKS_PROOFS) {
        Value value = 0;
        if (prove(args, region, value) == UNIFORM) return {MAP_UNIFORM, key(value)};
    }
#endif
    return {MAP_MIXED, 0};
}

// Who looks: the regions of a warp by their lanes, and the least and the greatest key of each.
struct Glance {
    Region boxes[32];
    Value least[32], most[32];
};

struct Look {
    Glance& glance;
    Cost cost;

    // The number of a cell: its region's lane, and its place on the faces.
    static constexpr u32 PLACES = 27;

    DEVICE void begin(const Region& box) {
        glance.boxes[lane()] = box;
        glance.least[lane()] = ~Value(0);
        glance.most[lane()] = 0;
        __syncwarp();
    }
    DEVICE bool mixed(u32 region) const { return glance.least[region] < glance.most[region]; }

    DEVICE void put(u32 index, Value label, bool mine) {
        const u32 region = index >> PLACES;
        const Value found = key(label);
        if (mine && found < glance.least[region]) atomicMin(&glance.least[region], found);
        if (mine && found > glance.most[region]) atomicMax(&glance.most[region], found);
        cost.add(label, mine);
    }
    DEVICE Coords cell(u32 index) const {
        const Region& box = glance.boxes[index >> PLACES];
        return box.cell(box.surface_offset(index & ((1u << PLACES) - 1)));
    }
    DEVICE bool wanted(u32 index) const { return !mixed(index >> PLACES); }
};
