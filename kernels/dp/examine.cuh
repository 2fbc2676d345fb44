// One region under dynamic parallelism: explored, and settled if it is terminal.
#pragma once

// A uniform region, and what fills it.
struct Filling {
    Code code;
    Value value;
};

// MBR in place: the blocks of a grid share a uniform region, or a leaf.
ENTRY(dp_fill, const DpArgs*, dp, Filling, filling, u64, from) {
    begin_grid(*dp);
    const Origin origin(from);
    const ExploreArgs& launch = level_of(*dp, origin.level);
    const RunArgs& run = *(const RunArgs*)dp->run;
    fill(run, region_at(run, launch, curve_coords(launch, filling.code)), filling.value, {blockIdx.x, gridDim.x});
    end_block(*dp, origin);
}

ENTRY(dp_leaf, const DpArgs*, dp, Code, code, u64, from) {
    begin_grid(*dp);
    const Origin origin(from);
    const ExploreArgs& launch = level_of(*dp, origin.level);
    const RunArgs& run = *(const RunArgs*)dp->run;
    const FieldArgs& args = *(const FieldArgs*)dp->args;
    Listener listener(dp->stop);
    settle(run, args, launch, region_at(run, launch, curve_coords(launch, code)), true, 0, nullptr, {blockIdx.x, gridDim.x}, listener);
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

// What DP does with a verdict: whoever examined a mixed region divides it; a terminal one is remembered and, under MBR in place,
// settled by a grid of its own if there is credit for one.
struct DpLead {
    static constexpr bool LAUNCHES = true;
    const DpArgs& dp;
    const ExploreArgs& launch;
    u32 level;
    Code code;

    DEVICE void divide() const { count(launch.tallies, TALLY_SUBDIVIDED, 1); }
    DEVICE void terminal(const Outcome& outcome, u32& what) const {
        remember(dp, level, code, outcome);
        if (what != SETTLE_LAUNCHED) return;
        what = SETTLE_IN_PLACE;
        const bool leaf = outcome.mixed;
        const u32 pieces = leaf ? launch.leaf_pieces : launch.pieces;
        if (pieces == 1) return;
        const u32 ticket = take_credit(dp, pieces);
        if (ticket != NO_TICKET) {
            const u64 from = Origin::word(level, ticket);
            const u32 error = leaf ? DEV_LAUNCH(dp_leaf, pieces, &dp, code, from)
                                   : DEV_LAUNCH(dp_fill, pieces, &dp, Filling{code, outcome.value}, from);
            if (launched(dp, launch, leaf ? TALLY_LEAF_GRIDS : TALLY_FILL_GRIDS, error, ticket)) what = SETTLE_NONE;
        }
        if (what == SETTLE_IN_PLACE) count_up(dp, DP_IN_PLACE);
    }
};

// Explores a region and settles it if it is terminal; true for everyone if it is to be divided, and not if the run is to
// end. Each kernel has one call of it, since it is inlined.
DEVICE bool examine(const DpArgs& dp, u32 level, const Entry& entry) {
    const RunArgs& run = *(const RunArgs*)dp.run;
    const FieldArgs& args = *(const FieldArgs*)dp.args;
    const ExploreArgs& launch = level_of(dp, level);
    Listener listener(dp.stop, true);
    const Region region = region_at(run, launch, entry.coords);
    Tally explored;
    const Outcome outcome = explore(run, args, region, listener, explored);
    settle_tally(launch.tallies, explored, TALLY_EXPLORED);
    // Nothing is launched for a run that is to end: the cascade dries up.
    if (outcome.mixed && !launch.last && team_any(listener.heard != 0)) return false;
    return emit(run, args, launch, region, outcome, {0, 1}, listener, DpLead{dp, launch, level, entry.code});
}
