// One region under dynamic parallelism: explored, and settled if it is terminal.
#pragma once

// A uniform region, and what fills it.
struct Filling {
    Code code;
    Value value;
};

// MBR: the blocks of a grid share a uniform region, or a leaf.
ENTRY(dp_fill, const DpArgs*, dp, Filling, filling, u64, from) {
    begin_grid(*dp);
    const Origin origin(from);
    const LaunchArgs& launch = level_of(*dp, origin.level);
    const RunArgs& run = *(const RunArgs*)dp->run;
    fill(run, region_at(run, launch, curve_coords(launch, filling.code)), filling.value, blockIdx.x, gridDim.x);
    end_block(*dp, origin);
}

ENTRY(dp_leaf, const DpArgs*, dp, Code, code, u64, from) {
    begin_grid(*dp);
    const Origin origin(from);
    const LaunchArgs& launch = level_of(*dp, origin.level);
    const RunArgs& run = *(const RunArgs*)dp->run;
    const FieldArgs& args = *(const FieldArgs*)dp->args;
    Tally evaluated;
    evaluate(run, args, region_at(run, launch, curve_coords(launch, code)), nullptr, blockIdx.x, gridDim.x, evaluated);
    settle_tally(launch, evaluated, TALLY_EVALUATED);
    end_block(*dp, origin);
}

// Remembers a terminal region, if the host wants to know and there is room; the host sees from the count if there was.
DEVICE void remember(const DpArgs& dp, u32 level, Code code, const Outcome& outcome) {
    if (dp.terminal_codes == 0) return;
    const u32 slot = atomicAdd(dp_counter(dp, DP_TERMINALS), 1u);
    if (slot >= dp.terminal_capacity) return;
    ((Code*)dp.terminal_codes)[slot] = code;
    ((u32*)dp.terminal_levels)[slot] = outcome.mixed ? level | LEAF : level;
    ((Value*)dp.terminal_values)[slot] = outcome.value;
    if (outcome.mixed && dp.bricks_wanted) {
        const u32 brick = atomicAdd(dp_counter(dp, DP_LEAVES), 1u);
        ((u32*)dp.terminal_bricks)[slot] = brick;
        ((Code*)dp.leaf_codes)[brick] = code;
    }
}

// Counts a terminal region and, under MBR, launches a grid that settles it; true if this block has to do it. Called by
// thread 0.
DEVICE bool settle_here(const DpArgs& dp, u32 level, const Entry& entry, u64 cells, const Outcome& outcome) {
    const LaunchArgs& launch = level_of(dp, level);
    const bool leaf = outcome.mixed;
    count(launch, leaf ? TALLY_LEAVES : TALLY_FILLED, 1);
    count(launch, leaf ? TALLY_LEAF_CELLS : TALLY_FILLED_CELLS, cells);
    remember(dp, level, entry.code, outcome);
    const u32 settle = leaf ? launch.leaf : launch.fill;
    if (settle != SETTLE_LISTED) return settle == SETTLE_IN_PLACE;
    const u32 pieces = leaf ? launch.leaf_pieces : launch.pieces;
    if (pieces == 1) return true;
    const u32 ticket = take_credit(dp, pieces);
    if (ticket != NO_TICKET) {
        const u64 from = Origin::word(level, ticket);
        const u32 error = leaf ? DEV_LAUNCH(dp_leaf, pieces, &dp, entry.code, from)
                               : DEV_LAUNCH(dp_fill, pieces, &dp, Filling{entry.code, outcome.value}, from);
        if (launched(dp, launch, leaf ? TALLY_LEAF_GRIDS : TALLY_FILL_GRIDS, error, ticket)) return false;
    }
    count_up(dp, DP_IN_PLACE);
    return true;
}

// Explores a region and settles it if it is terminal; true for everyone if it is to be divided, and not if the run is to
// end. Each kernel has one call of it, since it is inlined.
DEVICE bool examine(const DpArgs& dp, u32 level, const Entry& entry) {
    const RunArgs& run = *(const RunArgs*)dp.run;
    const FieldArgs& args = *(const FieldArgs*)dp.args;
    const LaunchArgs& launch = level_of(dp, level);
    const Region region = region_at(run, launch, entry.coords);
    Tally explored;
    const Outcome outcome = explore(run, args, region, explored);
    settle_tally(launch, explored, TALLY_EXPLORED);
    const bool mixed = outcome.mixed;
    // Nothing is launched for a run that is to end: the cascade dries up.
    if (team_any(mixed && threadIdx.x == 0 && stopped(run))) return false;
    if (mixed && !launch.last) {
        if (threadIdx.x == 0) count(launch, TALLY_SUBDIVIDED, 1);
        return true;
    }
    u32 here = 0;
    if (threadIdx.x == 0) here = settle_here(dp, level, entry, region.volume(), outcome);
    here = team_broadcast(here);
    team_sync();
    if (here && !mixed) fill(run, region, outcome.value, 0, 1);
    if (here && mixed) {
        Tally evaluated;
        evaluate(run, args, region, nullptr, 0, 1, evaluated);
        settle_tally(launch, evaluated, TALLY_EVALUATED);
    }
    return false;
}
