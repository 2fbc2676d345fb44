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

KERNEL(stream_roots) {
    const u64 index = (launch.first + blockIdx.x) * BLOCK + threadIdx.x;
    if (index < launch.regions) ((u8*)launch.mixed)[linear(launch.grid, olt_root(launch, u32(index)).coords)] = MAP_MIXED;
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

// What a warp works with.
struct Tiler {
    const RunArgs& run;
    const LaunchArgs& launch;
    const FieldArgs& args;
    Listener& listener;
    Sheet& sheet;
    Evaluator& evaluator;
    Leaves& leaves;
    u32 heard = 0; // labels since the warp last listened
    u64 evaluated = 0; // cells

    // True if the warp is to end, before it evaluates so many labels more.
    DEVICE bool ends(u32 labels) {
        heard += labels;
        if (heard < LISTEN) return listener.ended;
        heard = 0;
        return listener.ends(LISTEN);
    }

    // Evaluates the leaves of those lanes that have one.
    DEVICE void evaluate(bool mine, const Region& box, u32 since) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), leaf = __popc(votes & ((1u << lane()) - 1));
        // Of a run that keeps counts only, no cell is wanted.
        if (run.array == 0 || votes == 0) return;
        if (mine) {
            evaluated += box.volume();
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
    DEVICE void divide(u32 open, const Coords& coords, const LaunchArgs& inner, Found& found) {
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

    // One label in every cell of a region, by one thread.
    DEVICE void paint(const Region& box, Value value) {
        const TileLabel label = tile_label(value);
        const u32 first = piece_index(within(box.corner)), cells = u32(box.volume());
        for (u32 i = 0; i < cells; i++) sheet.piece.labels[first + piece_index(box.offset(i))] = label;
    }

    // One label each in the cells of the regions of the `uniform` lanes of a piece whose first lane is `first`; by the warp.
    DEVICE void cover(u32 uniform, u32 first, const Region& region, Value value) {
        constexpr u32 LABELS = 4 / sizeof(TileLabel) > 0 ? 4 / sizeof(TileLabel) : 1;
        if constexpr (TILE_EVEN && tile_side(0) % LABELS == 0 && PIECE_CELLS % (32 * LABELS) == 0 && sizeof(TileLabel) <= 4) {
            const u32 label = u32(tile_label(value));
            const u32 word = sizeof(TileLabel) == 1 ? label * 0x01010101u : sizeof(TileLabel) == 2 ? label * 0x00010001u : label;
#pragma unroll 8
            for (u32 i = lane(); i < PIECE_CELLS / LABELS; i += 32) {
                const u32 from = first + piece_lane(piece_place(i * LABELS));
                const u32 mine = __shfl_sync(WHOLE_WARP, word, from);
                if ((uniform >> from & 1) != 0) ((u32*)sheet.piece.labels)[i] = mine;
            }
        } else {
            if ((uniform >> lane() & 1) != 0) paint(region, value);
        }
    }

    // Stores the piece: its regions are those of the lanes `mine`, from lane `first` on; `alike` if all have lane `source`'s label.
    DEVICE void store_piece(u32 mine, u32 first, const Region& region, bool alike, Value value) {
        constexpr bool ROWS = TILE_EVEN && piece_side(0) % QUAD_CELLS == 0;
        const CellValue cell = stored(value);
        if (ROWS && mine == PIECE_MASK << first && !run.windowed && run.extent[0] % QUAD_CELLS == 0) {
            const Quad quad = quad_of(cell);
            CellValue* const lowest = (CellValue*)run.array + linear(run.extent, sheet.corner);
#pragma unroll 4
            for (u32 i = lane(); i < PIECE_CELLS / QUAD_CELLS; i += 32) {
                const u32 index = i * QUAD_CELLS;
                *(Quad*)(lowest + linear(run.extent, piece_place(index))) = alike ? quad : sheet.piece.quad(index);
            }
            return;
        }
#pragma unroll 1
        for (u32 rest = mine; rest != 0; rest &= rest - 1) {
            const u32 from = __ffs(rest) - 1;
            Region box;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                box.corner[j] = __shfl_sync(WHOLE_WARP, region.corner[j], from);
                box.extent[j] = __shfl_sync(WHOLE_WARP, region.extent[j], from);
            }
            const u32 lowest = piece_index(within(box.corner)), cells = u32(box.volume());
            for (u32 i = lane(); i < cells; i += 32) {
                const Coords at = box.offset(i);
                store(run, box.cell(at), alike ? cell : tile_cell(sheet.piece.labels[lowest + piece_index(at)]));
            }
        }
    }

    // The place of a cell in the piece.
    DEVICE Coords within(const Coords& cell) const {
        Coords at;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) at[j] = cell[j] - sheet.corner[j];
        return at;
    }
};

// The number of a tile that nobody has taken, for lane 0.
DEVICE u64 ticket(const LaunchArgs& launch) {
    return lane() == 0 ? atomicAdd((u64*)launch.tallies + TALLY_TICKET, u64(1)) : 0;
}

KERNEL(stream_tiles) {
    __shared__ Piece pieces[WARPS];
    __shared__ Queue queues[WARPS];
    __shared__ Leaves lists[WARPS];
    Listener listener(run.stop);
    Evaluator evaluator{args, queues[warp()]};
    Sheet sheet{pieces[warp()]};
    Tiler tiler{run, launch, args, listener, sheet, evaluator, lists[warp()]};
    LaunchArgs inner = launch;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        inner.grid[j] = launch.grid[j] * split(j);
        inner.side[j] = TILE_EVEN ? leaf_side(j) : 0;
    }
    Found found;
    // Whoever is done takes the next: some tiles take a hundred times as long as others. It is asked for ahead, and comes meanwhile.
    u64 next = ticket(launch);
#pragma unroll 1
    for (u64 tile; (tile = __shfl_sync(WHOLE_WARP, next, 0)) < launch.regions && !tiler.ends(LISTEN);) {
        next = ticket(launch);
        Coords coords;
        Fate fate{MAP_ABSENT, 0};
        if (tile_region(launch, tile, coords)) fate = map_read(launch.mixed, launch.values, linear(launch.grid, coords));
        const Region region = region_at(run, launch, coords);
#pragma unroll 1
        for (u32 first = 0; first < TILE_LANES; first += PIECE_LANES) {
            const bool of_piece = (PIECE_MASK << first >> lane() & 1) != 0;
            const u32 mine = __ballot_sync(WHOLE_WARP, of_piece && fate.state != MAP_ABSENT);
            if (mine == 0) continue;
            const u32 open = __ballot_sync(WHOLE_WARP, of_piece && fate.state == MAP_MIXED);
            const Value value = __shfl_sync(WHOLE_WARP, fate.value, __ffs(mine) - 1);
            const bool differs = of_piece && fate.state == MAP_UNIFORM && fate.value != value;
            const bool alike = open == 0 && !__any_sync(WHOLE_WARP, differs);
#pragma unroll
            for (u32 j = 0; j < DIM; j++) sheet.corner[j] = __shfl_sync(WHOLE_WARP, region.corner[j], first);
            if (open != 0) {
                if (TILE_DIVIDES) tiler.divide(open, coords, inner, found);
                else tiler.evaluate((open >> lane() & 1) != 0, region, u32(fate.value));
                evaluator.finish(sheet);
            }
            if (run.array == 0) continue;
            if (!alike) tiler.cover(mine & ~open, first, region, fate.value);
            __syncwarp();
            tiler.store_piece(mine, first, region, alike, value);
            __syncwarp();
        }
    }
    // The last level's.
    const u64 tallies = launch.tallies + (TILE_DIVIDES ? TALLY_ROWS * TALLY_COLUMNS * sizeof(u64) : 0);
    if (TILE_DIVIDES) found.settle(tallies);
    const u64 evaluated = warp_sum(tiler.evaluated), labels = warp_sum(sheet.labels);
    if (lane() == 0 && evaluated > 0) {
        count(tallies, TALLY_EVALUATED, evaluated);
        if (LABELS_COUNT) count(tallies, TALLY_LABELS, labels);
    }
}
