// What follows exploration: fill a uniform region, or evaluate every cell of a leaf.
#pragma once

#include "quad.cuh"

// Which of the blocks that share a region this is.
struct Share {
    u32 piece, pieces;
};

// The extents of the array in units of 16 bytes.
DEVICE Coords wide_rows(const RunArgs& run) {
    Coords size;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) size[j] = j == 0 ? run.extent[0] / QUAD_CELLS : run.extent[j];
    return size;
}

// Steps of a fill between two looks at whether the run is to end.
constexpr u32 FILL_LISTEN = 256;

// `value` in every cell of `region` of an array of extents `size`.
template <class Value>
DEVICE void fill(const RunArgs& run, Value* array, const u32* size, const Region& region, Value value, const Share& share) {
    const Walk walk(region);
    const u32 first = share.piece * walk.teams + walk.team, each = share.pieces * walk.teams;
    const Coords step = walk.place(each);
    Coords place = walk.place(first), cell;
    // Each thread for itself: there is no barrier here.
#pragma unroll 1
    for (u32 left = walk.steps(first, each); left > 0; left--) {
        if (walk.cell(place, cell)) array[linear(size, cell)] = value;
        walk.advance(place, step);
        if (left % FILL_LISTEN == 0 && stop_word(run.stop) != 0) break;
    }
}

DEVICE void fill(const RunArgs& run, Region region, Value value, const Share& share) {
    if (run.windowed && !clip(run, region)) return;
    const CellValue cell = stored(value);
    if ((region.corner[0] | region.extent[0] | run.extent[0]) % QUAD_CELLS == 0) {
        // Rows in units of 16 bytes.
        Region wide = region;
        wide.corner[0] /= QUAD_CELLS;
        wide.extent[0] /= QUAD_CELLS;
        fill(run, (Quad*)run.array, wide_rows(run).c, wide, quad_of(cell), share);
    } else {
        fill(run, (CellValue*)run.array, run.extent, region, cell, share);
    }
}

// Evaluates every cell of `region`. Labels go to the dense array, or to `brick` in the region's storage order if that is
// not null.
DEVICE void evaluate(const RunArgs& run, const FieldArgs& args, const Region& region, CellValue* brick, const Share& share,
                     Listener& listener, Tally& tally) {
    const Walk walk(region);
    const u32 each = share.pieces * walk.teams;
    u32 base = share.piece * walk.teams;
    const Coords next = walk.place(each);
    Coords place = walk.place(base + walk.team);
    // The same number of steps for all threads of a warp, LISTEN of them at a time.
#pragma unroll 1
    for (u32 step = 0; base < walk.tiles && !listener.ends(step); step += LISTEN) {
#pragma unroll 1
        for (u32 i = 0; i < LISTEN && base < walk.tiles; i++, base += each) {
            Coords cell;
            const bool mine = walk.cell(place, cell);
            walk.advance(place, next);
            const Value found = value_at(args, cell);
            tally.add(found, mine);
            if (mine && brick == nullptr) {
                store(run, cell, stored(found));
            } else if (mine) {
                Coords offset;
#pragma unroll
                for (u32 j = 0; j < DIM; j++) offset[j] = cell[j] - region.corner[j];
                brick[linear(region.extent.c, offset)] = stored(found);
            }
        }
    }
}

// Settles a terminal region: a leaf, or one that is uniform.
DEVICE void settle(const RunArgs& run, const FieldArgs& args, const LaunchArgs& launch, const Region& region, bool leaf,
                   Value value, CellValue* brick, const Share& share, Listener& listener) {
    if (!leaf) {
        fill(run, region, value, share);
        return;
    }
    Tally evaluated;
    evaluate(run, args, region, brick, share, listener, evaluated);
    settle_tally(launch.tallies, evaluated, TALLY_EVALUATED);
}
