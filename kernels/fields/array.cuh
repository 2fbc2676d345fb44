// An array that is there: the label of a cell is its element. Twin of src/field/array.rs.
//
// Proofs are looked up. For every region of the plan's levels a pyramid says whether its cells differ, and what one of them is;
// strategies/bottom_up.cu makes it of one look at every cell.
#pragma once

DEVICE Label label(const FieldArgs& args, const Coords& cell) {
    return ((const Label*)args.cells)[linear(args.lies, cell)];
}

#include "value.cuh"

// A box that is no region of the pyramid is looked at, if it has no more cells than this.
constexpr u32 FEW_CELLS = 4096;

// Where a box is a region of a lattice of `m` regions over `n` cells, on one axis; false if it is none. Twin of Level::coords.
DEVICE bool lattice_place(u32 corner, u32 extent, u32 n, u32 m, u32& at) {
    const u64 all = n, regions = m, scaled = extent * regions;
    if (scaled + regions <= all || scaled >= all + regions) return false;
    const u64 before = corner * regions, last = before + regions - 1;
    at = last >> 32 == 0 ? u32(last) / n : u32(last / n);
    // It begins and ends where that region does: ⌊at·n/m⌋ and ⌊(at + 1)·n/m⌋.
    const u64 from = at * all, to = from + all, end = before + scaled;
    return before <= from && from < before + regions && end <= to && to < end + regions;
}

// Complete for the regions of a plan.
DEVICE Verdict prove(const FieldArgs& args, const Region& region, Value& value) {
    u32 grid[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) grid[j] = args.grid[j];
    u64 first = 0;
#pragma unroll 1
    for (u32 level = 0; level < args.levels; level++) {
        u64 place = 0, regions = 1;
        bool here = true;
#pragma unroll
        for (u32 i = 0; i < DIM; i++) {
            const u32 j = DIM - 1 - i;
            u32 at = 0;
            here = here && lattice_place(region.corner[j], region.extent[j], args.size[j], grid[j], at);
            place = place * grid[j] + at;
            regions *= grid[j];
            grid[j] *= split(j);
        }
        if (here) {
            value = word_of(((const Label*)args.values)[first + place]);
            return ((const u8*)args.mixed)[first + place] ? MIXED : UNIFORM;
        }
        first += regions;
    }
    const Index cells = region.volume();
    if (cells > FEW_CELLS) return UNKNOWN;
    value = value_at(args, region.corner);
#pragma unroll 1
    for (u32 i = 1; i < u32(cells); i++) {
        if (key(value_at(args, region.cell(region.offset(i)))) != key(value)) return MIXED;
    }
    return UNIFORM;
}
