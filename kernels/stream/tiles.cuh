// The array of every stream.
#pragma once

KERNEL(stream_tiles, StreamArgs) {
    struct Desk {
        Piece piece;
        Leaves leaves;
        Queue<false> queue;
    };
    __shared__ Desk desks[WARPS];
    Desk& desk = held(desks[warp()]);
    Listener listener(run.stop);
    Evaluator<false> evaluator{args, desk.queue};
    Sheet sheet{desk.piece};
    Tiler tiler{run, launch, args, listener, sheet, evaluator, desk.leaves};
#if TILE_DIVIDES
    LaunchArgs inner = launch;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        inner.grid[j] = launch.grid[j] * split(j);
        inner.side[j] = TILE_EVEN ? leaf_side(j) : 0;
    }
    Found found;
#endif
    // Whoever is done takes the next: some tiles take a hundred times as long as others. It is asked for ahead, and comes meanwhile.
    u64 next = ticket(launch, TICKET_TILE);
#pragma unroll 1
    for (u64 tile; (tile = __shfl_sync(WHOLE_WARP, next, 0)) < launch.tiles && !tiler.ends(1);) {
        next = ticket(launch, TICKET_TILE);
        Coords coords;
        Fate fate{MAP_ABSENT, 0};
        if (tile_region(launch.grid, u32(tile), coords)) fate = map_read(launch, coords);
        __syncwarp();
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
#if TILE_DIVIDES
                tiler.divide(open, coords, inner, found);
#else
                tiler.evaluate((open >> lane() & 1) != 0, coords, region, u32(fate.value));
#endif
                evaluator.finish(sheet);
#if KEEPS_BRICKS
                tiler.keep(open, coords);
#endif
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
#if TILE_DIVIDES
    found.settle(tallies);
#endif
    const u64 evaluated = warp_sum(tiler.evaluated), labels = warp_sum(sheet.labels);
    if (lane() == 0 && evaluated > 0) {
        count(tallies, TALLY_EVALUATED, evaluated);
        if (LABELS_COUNT) count(tallies, TALLY_LABELS, labels);
    }
    if (SHARES_FACES) {
        const u64 known = warp_sum(tiler.known);
        if (lane() == 0 && known > 0) count(tallies, TALLY_KNOWN, known);
    }
}
