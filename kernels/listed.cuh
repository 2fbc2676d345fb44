// Settling from a list of terminal regions.
//
// A list has parts: regions of one level that are all uniform, or all leaves. `regions` of them have `pieces` blocks each, from
// block `first` on; the blocks of the parts follow each other, so that one launch settles any number of them.
#pragma once

// What a block does: which entry of which part, and which share of it.
struct Listed {
    const LaunchArgs& part;
    u64 entry;
    Share share;

    DEVICE bool leaf() const { return part.leaves != 0; }
    // The number that the list has there.
    DEVICE u32 number() const { return ((const u32*)(leaf() ? part.leaves : part.fills))[entry]; }
};

// Of a list with one part.
DEVICE Listed listed_in(const LaunchArgs& part, u64 block) {
    return {part, block / part.pieces, {u32(block % part.pieces), part.pieces}};
}

DEVICE Listed listed(const LaunchArgs* part, u64 block) {
    while (block >= part->first + part->regions * part->pieces) part++;
    return listed_in(*part, block - part->first);
}
