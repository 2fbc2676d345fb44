// Exhaustive: one thread per cell of the window, without subdivision.
//
// The launch space is a stack of 3-D grids: the native grid covers axes 0 to 2 in tiles of the block's shape, the outer
// axes index the stack along the curve. Both are folded into one index, since a grid's y and z end at 65535 blocks and
// x does not; `first` is the index at which this launch starts. Where grids are native, `first` is that of a grid in the
// stack, and a grid that would be too high or too deep goes out in parts. A block takes `pieces` tiles in a row along axis
// 0, or what is left of the row: it finds its place once, and what does not change along a row is computed once.
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

KERNEL(exhaustive, ExhaustiveArgs) {
    Listener listener(run.stop);
#if NATIVE_GRIDS
    const u32 layer = u32(launch.first);
    const u32 tile[3] = {blockIdx.x, launch.native_from[0] + blockIdx.y, launch.native_from[1] + blockIdx.z};
#else
    const u64 index = launch.first + blockIdx.x;
    const u32 layer = u32(index / launch.native), rest = u32(index % launch.native), above = rest / launch.tiles[0];
    const u32 tile[3] = {rest % launch.tiles[0], DIM < 3 ? above : above % launch.tiles[1], above / launch.tiles[1]};
#endif
    u32 thread = threadIdx.x;
    constexpr u32 OUTER = DIM > 3 ? DIM - 3 : 1;
    Tuple<OUTER> outer;
    if (DIM > 3) outer = curve_decode<OUTER>(launch, layer);
    const u32 shape[3] = {DIM == 1 ? BLOCK : BLOCK_X, BLOCK_Y, BLOCK_Z};
    // Where the tile begins and this thread's cell is, in the window. Tiles begin within 32 bits, cells beyond the window may not.
    u32 start[DIM], place[DIM];
    Coords at;
    bool within = true;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        if (j < 3) {
            start[j] = tile[j] * shape[j] * (j == 0 ? launch.pieces : 1);
            place[j] = thread % shape[j];
            thread /= shape[j];
            const bool inside = place[j] < run.extent[j] - start[j];
            if (j > 0) within = within && inside;
            at[j] = start[j] + (inside ? place[j] : 0);
        } else {
            at[j] = outer[j - 3];
        }
    }
    const u32 left = ceil_div(run.extent[0] - start[0], shape[0]), pieces = left < launch.pieces ? left : launch.pieces;
    // What does not change along the row. Stores might change anything else, as far as the compiler knows.
#ifdef FIELD_ARGS_BY_VALUE
    const FieldArgs field = args;
#else
    const FieldArgs& field = args;
#endif
    Coords cell;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) cell[j] = run.corner[j] + at[j];
    const u32 corner = run.corner[0], extent = run.extent[0];
    at[0] = 0;
    CellValue* const row = run.array == 0 ? nullptr : (CellValue*)run.array + linear(run.extent, at);
    Tally tally;
#pragma unroll 1
    for (u32 step = 0; step < pieces && !listener.ends(step); step += LISTEN) {
        const u32 end = pieces - step < LISTEN ? pieces : step + LISTEN;
#pragma unroll 1
        for (u32 i = step; i < end; i++) {
            const bool inside = place[0] < extent - start[0], mine = within && inside;
            const u32 x = start[0] + (inside ? place[0] : 0);
            start[0] += shape[0];
            cell[0] = corner + x;
            const Value found = value_at(field, cell);
            if (mine && row != nullptr) row[x] = stored(found);
            tally.add(found, mine);
        }
    }
    settle_tally(launch.tallies, tally, TALLY_EVALUATED);
}
