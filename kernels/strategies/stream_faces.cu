// Streams: ASK where the cells on faces decide, without lists (`--scheme stream`).
//
//   stream_roots   marks the roots of a run that does not start from all regions of its first level
//   stream_look    a level above that of tiles: warps look at the regions whose parents are mixed, several at a time or several for one
//   stream_judge   what became of them: a thread per region
//   stream_tiles   the array, a warp per tile: the faces of its regions, of their children if those are mixed, and what is left inside
//                  of those that are mixed, each cell once
//
// The regions, and what becomes of them, are those of ASK under the same plan.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include RULE_HEADER
#include FIELD_HEADER
#include "value.cuh"

#include "quad.cuh"
#include "stream/tile.cuh"
#include "stream/map.cuh"
#include "stream/cells.cuh"
#include "stream/tiler.cuh"
#include "stream/look.cuh"
#include "stream/faces.cuh"

KERNEL(stream_look) {
    __shared__ Glance glances[WARPS];
    __shared__ Queue queues[WARPS];
    Listener listener(run.stop);
    const u64 team = (launch.first + blockIdx.x) * WARPS + warp(), index = team / launch.pieces * launch.units + lane();
    const u32 piece = u32(team % launch.pieces);
    if (listener.ends(0)) return;
    u64 place = 0;
    Region box{};
    Fate fate{MAP_ABSENT, 0};
    Found found;
    if (lane() < launch.units && index < launch.regions) {
        Coords coords;
        fate = inherited(launch, index, coords);
        place = linear(launch.grid, coords);
        const bool asked = fate.state == MAP_MIXED;
        if (asked) {
            box = region_at(run, launch, coords);
            fate = foreseen(args, box);
        }
        // Warps that share a region all come to this; a root that was said to be uniform by one is not looked at by another.
        if (piece == 0) {
            if (asked && fate.state == MAP_UNIFORM) {
                found.proven++;
                found.uniform(box.volume());
            }
            ((u8*)launch.mixed)[place] = u8(fate.state);
            if (fate.state != MAP_MIXED) ((Value*)launch.values)[place] = fate.value;
        }
    }
    Value* const least = (Value*)launch.values + place;
    Value* const most = (Value*)launch.most + place;
    bool mine = fate.state == MAP_MIXED;
    // Another warp may have seen two labels already.
    if (mine && piece > 0) mine = !(*(volatile Value*)least < *(volatile Value*)most);
    Look look{glances[warp()]};
    look.begin(box);
    Evaluator evaluator{args, queues[warp()]};
    u32 rest = __ballot_sync(WHOLE_WARP, mine), heard = 0, slot = piece, cells = 0, bits = 0;
    bool begun = false;
    evaluator.evaluate_all(look, [&](u32& index, u32&, bool& named) {
#pragma unroll 1
        for (; rest != 0; rest &= rest - 1, begun = false) {
            const u32 region = __ffs(rest) - 1;
            if (!begun) {
                cells = u32(look.glance.boxes[region].surface_volume());
                bits = cells <= 32 ? 0 : 32 - __clz((cells - 1) / 32);
                slot = piece;
                begun = true;
            }
            // In bit-reversed order, so that a second label shows early.
#pragma unroll 1
            while (slot >> bits == 0 && !__any_sync(WHOLE_WARP, look.mixed(region))) {
                const u32 chunk = bits == 0 ? slot : __brev(slot) >> (32 - bits), cell = chunk * 32 + lane();
                slot += launch.pieces;
                if (chunk * 32 >= cells) continue;
                if (++heard % LISTEN == 0 && listener.ends(LISTEN)) return false;
                named = cell < cells;
                index = region << Look::PLACES | (named ? cell : 0);
                return true;
            }
        }
        return false;
    });
    if (mine && look.glance.least[lane()] <= look.glance.most[lane()]) {
        atomicMin(least, look.glance.least[lane()]);
        atomicMax(most, look.glance.most[lane()]);
    }
    found.settle(launch.tallies);
    look.cost.settle(launch.tallies, TALLY_EXPLORED);
}

KERNEL(stream_judge) {
    const u64 index = (launch.first + blockIdx.x) * BLOCK + threadIdx.x;
    Found found;
    if (index < launch.regions && ((const u8*)launch.mixed)[index] == MAP_MIXED) {
        const bool uniform = ((const Value*)launch.values)[index] == ((const Value*)launch.most)[index];
        const Region region = region_at(run, launch, map_place(launch.grid, index));
        if (uniform) {
            ((u8*)launch.mixed)[index] = MAP_UNIFORM;
            found.uniform(region.volume());
        } else {
            found.mixed(region.volume(), false);
        }
    }
    __syncwarp();
    found.settle(launch.tallies);
}

KERNEL(stream_tiles) {
    __shared__ Piece pieces[WARPS];
    __shared__ Queue queues[WARPS];
    __shared__ Boxes lists[WARPS];
    Listener listener(run.stop);
    Evaluator evaluator{args, queues[warp()]};
    Sheet sheet{pieces[warp()]};
    const LaunchArgs inner = children_of(launch);
    Facer facer{{run, launch, args, listener, sheet, evaluator}, lists[warp()], inner};
    settle_tiles(facer);
    facer.explored.settle(launch.tallies, TALLY_EXPLORED);
    facer.found.settle(launch.tallies);
    const u64 below = launch.tallies + (TILE_DIVIDES ? TALLY_ROWS * TALLY_COLUMNS * sizeof(u64) : 0);
    if (TILE_DIVIDES) {
        facer.inner_explored.settle(below, TALLY_EXPLORED);
        facer.inner_found.settle(below);
    }
    facer.evaluated.settle(below, TALLY_EVALUATED);
}
