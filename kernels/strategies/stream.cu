// Streams: ASK where proofs alone decide, without lists (`--scheme stream`). Proofs come first, a region per thread; the array is
// then written once, in long rows, by warps that take a tile each.
//
//   stream_roots   marks the roots of a run that does not start from all regions of its first level
//   stream_prove   a level: a thread per region of its lattice, which does something if the parent was mixed
//   stream_tiles   the array: a warp per tile. Regions of the last level that are smaller than a warp are proven here, 32 at a time;
//                  so are cells of leaves evaluated, wherever they lie
//
// The regions, and what becomes of them, are those of ASK under the same plan.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

#include "quad.cuh"
#include "stream/tile.cuh"
#include "stream/map.cuh"
#include "stream/cells.cuh"
#include "stream/tiler.cuh"

// A thread proves a region.
DEVICE Fate proven(const FieldArgs& args, const Region& region, bool last, Found& found) {
    Value value = 0;
    const Verdict verdict = prove(args, region, value);
    if (verdict == UNIFORM) {
        found.proven++;
        found.uniform(region.volume());
        return {MAP_UNIFORM, key(value)};
    }
    found.mixed(region.volume(), last);
    return {MAP_MIXED, verdict == UNKNOWN ? value : 0};
}

KERNEL(stream_prove) {
    Listener listener(run.stop);
    const u64 index = (launch.first + blockIdx.x) * BLOCK + threadIdx.x;
    if (listener.ends(0)) return;
    Found found;
    if (index < launch.regions) {
        Coords coords;
        Fate fate = inherited(launch, index, coords);
        if (fate.state == MAP_MIXED) fate = proven(args, region_at(run, launch, coords), launch.last != 0, found);
        const u64 place = linear(launch.grid, coords);
        ((u8*)launch.mixed)[place] = u8(fate.state);
        ((Value*)launch.values)[place] = fate.value;
    }
    __syncwarp();
    found.settle(launch.tallies);
}

// The leaves that a warp is about to evaluate: where each begins in the piece, the axes on which it is a cell shorter than the
// longest, and the steps before which none of its cells is outside.
struct Leaves {
    u32 index[32], shorter[32], since[32];
    u8 open[32]; // lanes whose regions are divided
};

// Regions come proven; those that are mixed are divided once more or evaluated.
struct Prover : Tiler {
    Leaves& leaves;
    const LaunchArgs& inner; // the last level's
    Found& found;

    DEVICE Fate fate(const Coords& coords) const { return map_read(launch.mixed, launch.values, linear(launch.grid, coords)); }

    DEVICE void settle(u32 asked, const Coords& coords, const Region& region, const Fate& fate) {
        if (TILE_DIVIDES) divide(asked, coords);
        else evaluate((asked >> lane() & 1) != 0, region, u32(fate.value));
        evaluator.finish(sheet);
    }

  private:
    // Evaluates the leaves of those lanes that have one.
    DEVICE void evaluate(bool mine, const Region& box, u32 since) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), leaf = __popc(votes & ((1u << lane()) - 1));
        // Of a run that keeps counts only, no cell is wanted.
        if (run.array == 0 || votes == 0) return;
        if (mine) {
            leaves.index[leaf] = piece_index(within(box.corner));
            leaves.since[leaf] = since;
            leaves.shorter[leaf] = 0;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) leaves.shorter[leaf] |= u32(box.extent[j] < leaf_side(j)) << j;
        }
        __syncwarp();
        u32 cells = 1;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) cells *= leaf_side(j);
        const u32 all = __popc(votes) * cells;
#pragma unroll 1
        for (u32 base = 0; base < all && !ends(LISTEN);) {
#pragma unroll 1
            for (u32 i = 0; i < LISTEN && base < all; i++, base += 32) chunk(base + lane(), all, cells);
        }
        __syncwarp();
    }

    // The cell of a number among those of all leaves, if there are so many; by the warp.
    DEVICE void chunk(u32 number, u32 all, u32 cells) {
        bool there = number < all;
        const u32 from = there ? number / cells : 0;
        u32 rest = number % cells;
        Coords at;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            at[j] = rest % leaf_side(j);
            rest /= leaf_side(j);
            if (!TILE_EVEN) {
                const bool beyond = at[j] + 1 == leaf_side(j) && (leaves.shorter[from] >> j & 1) != 0;
                there = there && !beyond;
                at[j] = beyond ? 0 : at[j];
            }
        }
        // Of none the least step to start at would be the cap.
        if (!TILE_EVEN && !__any_sync(WHOLE_WARP, there)) return;
        evaluator.evaluate(sheet, leaves.index[from] + piece_index(at), leaves.since[from], there);
    }

    // Proves the children of the regions of the `open` lanes, and evaluates those that are mixed.
    DEVICE void divide(u32 open, const Coords& coords) {
        if ((open >> lane() & 1) != 0) leaves.open[__popc(open & ((1u << lane()) - 1))] = u8(lane());
        __syncwarp();
        const u32 all = __popc(open) * CHILDREN;
#pragma unroll 1
        for (u32 base = 0; base < all && !ends(1); base += 32) {
            const bool there = base + lane() < all;
            const u32 number = there ? base + lane() : 0, parent = leaves.open[number / CHILDREN];
            u32 child = number % CHILDREN;
            Coords at;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                at[j] = __shfl_sync(WHOLE_WARP, coords[j], parent) * split(j) + child % split(j);
                child /= split(j);
            }
            const Region box = region_at(run, inner, at);
            Fate fate{MAP_ABSENT, 0};
            if (there) fate = proven(args, box, true, found);
            __syncwarp();
            if (fate.state == MAP_UNIFORM && run.array != 0) paint(box, fate.value);
            evaluate(fate.state == MAP_MIXED, box, u32(fate.value));
        }
    }
};

KERNEL(stream_tiles) {
    __shared__ Piece pieces[WARPS];
    __shared__ Queue queues[WARPS];
    __shared__ Leaves lists[WARPS];
    Listener listener(run.stop);
    Evaluator evaluator{args, queues[warp()]};
    Sheet sheet{pieces[warp()]};
    const LaunchArgs inner = children_of(launch);
    Found found;
    Prover prover{{run, launch, args, listener, sheet, evaluator}, lists[warp()], inner, found};
    settle_tiles(prover);
    // The last level's.
    const u64 tallies = launch.tallies + (TILE_DIVIDES ? TALLY_ROWS * TALLY_COLUMNS * sizeof(u64) : 0);
    if (TILE_DIVIDES) found.settle(tallies);
    sheet.take().settle(tallies, TALLY_EVALUATED);
}
