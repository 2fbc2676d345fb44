// Exhaustive: one thread per cell, without subdivision.
//
// The launch space is a stack of 3-D grids: the native grid covers axes 0 to 2 in tiles of the block's shape, the outer
// axes index the stack along the curve. Both are folded into one index, since a grid's y and z end at 65535 blocks and
// x does not; `first` is the index at which this launch starts.
#include "prelude.cuh"

#include "team.cuh"

struct Entry {
    Code code;
    Coords coords;
};

#include CURVE_HEADER
#include "region.cuh"
#include FIELD_HEADER

KERNEL(exhaustive) {
    const u64 index = launch.first + blockIdx.x;
    const u64 layer = index / launch.native;
    u64 tile = index % launch.native;
    u32 thread = threadIdx.x;
    const u32 shape[3] = {DIM == 1 ? BLOCK : BLOCK_X, BLOCK_Y, BLOCK_Z};
    Coords cell;
    bool mine = true;
#pragma unroll
    for (u32 j = 0; j < 3 && j < DIM; j++) {
        cell[j] = u32(tile % launch.tiles[j]) * shape[j] + thread % shape[j];
        tile /= launch.tiles[j];
        thread /= shape[j];
        mine = mine && cell[j] < run.size[j];
    }
    if (DIM > 3) {
        constexpr u32 OUTER = DIM > 3 ? DIM - 3 : 1;
        const Tuple<OUTER> outer = curve_decode<OUTER>(launch, Code(layer));
#pragma unroll
        for (u32 j = 3; j < DIM; j++) cell[j] = outer[j - 3];
    }
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        if (!mine) cell[j] = 0;
    }
    const u32 found = label(field, cell);
    if (mine && run.field != 0) ((CellValue*)run.field)[linear(run.size, cell)] = CellValue(found);
    Tally tally;
    tally.add(found, mine);
    settle_tally(launch, tally, TALLY_EVALUATED);
}
