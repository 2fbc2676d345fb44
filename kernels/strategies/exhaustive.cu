// Exhaustive: one thread per cell of the window, without subdivision.
//
// The launch space is a stack of 3-D grids: the native grid covers axes 0 to 2 in tiles of the block's shape, the outer
// axes index the stack along the curve. Both are folded into one index, since a grid's y and z end at 65535 blocks and
// x does not; `first` is the index at which this launch starts. A block takes `pieces` neighbouring tiles of one grid, so
// that finding its place costs little.
#include "prelude.cuh"

#include "team.cuh"

struct Entry {
    Code code;
    Coords coords;
};

#include CURVE_HEADER
#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

KERNEL(exhaustive) {
    Listener listener(run.stop);
    const u64 index = launch.first + blockIdx.x;
    const u32 layer = u32(index / launch.native);
    const u32 base = u32(index % launch.native) * launch.pieces;
    constexpr u32 OUTER = DIM > 3 ? DIM - 3 : 1;
    Tuple<OUTER> outer;
    if (DIM > 3) outer = curve_decode<OUTER>(launch, layer);
    const u32 shape[3] = {DIM == 1 ? BLOCK : BLOCK_X, BLOCK_Y, BLOCK_Z};
    Tally tally;
#pragma unroll 1
    for (u32 i = 0; i < launch.pieces; i++) {
        if (listener.ends(i)) break;
        u32 tile = base + i, thread = threadIdx.x;
        Coords at, cell; // in the window, in the domain
        bool mine = tile < launch.regions;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            if (j < 3) {
                // The last tile of an axis can end beyond 32 bits.
                const u64 place = u64(tile % launch.tiles[j]) * shape[j] + thread % shape[j];
                mine = mine && place < run.extent[j];
                at[j] = u32(place);
                tile /= launch.tiles[j];
                thread /= shape[j];
            } else {
                at[j] = outer[j - 3];
            }
        }
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            if (!mine) at[j] = 0;
            cell[j] = run.corner[j] + at[j];
        }
        const Value found = value_at(args, cell);
        if (mine && run.array != 0) ((CellValue*)run.array)[linear(run.extent, at)] = stored(found);
        tally.add(found, mine);
    }
    settle_tally(launch.tallies, tally, TALLY_EVALUATED);
}
