// Dynamic parallelism: a block whose region is mixed launches a grid for its R children (Adinetz 2014; ASK paper, §4).
//
// Launches are paid from a budget of blocks in flight: a launch takes what its grid has, and each block gives one back
// when it is done. A launch that finds no credit, or fails, is not lost: the family goes to an overflow table, which the
// host's next round takes up, and if that is full the block descends into the family itself.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include FIELD_HEADER

#include "explore.cuh"
#include "walk.cuh"
#include "settle.cuh"

DEVICE const LaunchArgs& level_of(const DpArgs& dp, u32 level) { return ((const LaunchArgs*)dp.levels)[level]; }
DEVICE u32* dp_counter(const DpArgs& dp, u32 counter) { return (u32*)dp.counters + counter; }

// Takes `blocks` credits; false if the budget has not as many.
DEVICE bool take_credit(const DpArgs& dp, u32 blocks) {
    const u32 taken = atomicAdd(dp_counter(dp, DP_IN_FLIGHT), blocks) + blocks;
    if (taken <= dp.budget) {
        atomicMax(dp_counter(dp, DP_MOST_IN_FLIGHT), taken);
        return true;
    }
    atomicAdd(dp_counter(dp, DP_IN_FLIGHT), 0u - blocks);
    atomicAdd(dp_counter(dp, DP_REFUSED), 1u);
    return false;
}

// Counts a launch that was made, or takes its credit back.
DEVICE bool launched(const DpArgs& dp, u32 error, u32 blocks) {
    if (error == 0) {
        atomicAdd(dp_counter(dp, DP_LAUNCHES), 1u);
        return true;
    }
    atomicAdd(dp_counter(dp, DP_FAILED), 1u);
    atomicAdd(dp_counter(dp, DP_IN_FLIGHT), 0u - blocks);
    return false;
}

DEVICE void give_credit(const DpArgs& dp) {
    if (threadIdx.x == 0) atomicAdd(dp_counter(dp, DP_IN_FLIGHT), 0u - 1u);
}

DEVICE void dp_explore(const DpArgs& dp, u32 level, Entry entry);

ENTRY(dp_family, const DpArgs*, dp, u32, level, Code, parent) {
    dp_explore(*dp, level, curve_child(level_of(*dp, level), parent, blockIdx.x));
    give_credit(*dp);
}

// MBR: the blocks of a grid share a uniform region, or a leaf.
ENTRY(dp_fill, const DpArgs*, dp, u64, level_label, Code, code) {
    const LaunchArgs& launch = level_of(*dp, u32(level_label >> 32));
    const RunArgs& run = *(const RunArgs*)dp->run;
    fill(run, region_at(run, launch, curve_coords(launch, code)), u32(level_label), blockIdx.x, gridDim.x);
    give_credit(*dp);
}

ENTRY(dp_leaf, const DpArgs*, dp, u64, level, Code, code) {
    const LaunchArgs& launch = level_of(*dp, u32(level));
    const RunArgs& run = *(const RunArgs*)dp->run;
    const FieldArgs& field = *(const FieldArgs*)dp->field;
    Tally evaluated;
    evaluate(run, field, region_at(run, launch, curve_coords(launch, code)), nullptr, blockIdx.x, gridDim.x, evaluated);
    settle_tally(launch, evaluated, TALLY_EVALUATED);
    give_credit(*dp);
}

// What became of a mixed region's children.
constexpr u32 GONE = 0, IN_PLACE = 1;

DEVICE u32 subdivide(const DpArgs& dp, u32 level, Code code) {
    if (take_credit(dp, CHILDREN) && launched(dp, DEV_LAUNCH(dp_family, CHILDREN, &dp, level + 1, code), CHILDREN)) {
        return GONE;
    }
    const u32 slot = atomicAdd(dp_counter(dp, DP_OVERFLOW), 1u);
    if (slot < dp.capacity) {
        ((Code*)dp.overflow)[slot] = code;
        ((u32*)dp.overflow_levels)[slot] = level + 1;
        return GONE;
    }
    atomicAdd(dp_counter(dp, DP_IN_PLACE), 1u);
    return IN_PLACE;
}

// Remembers a terminal region, if the host wants to know and there is room; the host sees from the count if there was.
DEVICE void remember(const DpArgs& dp, u32 level, Code code, u32 outcome) {
    if (dp.terminal_codes == 0) return;
    const u32 slot = atomicAdd(dp_counter(dp, DP_TERMINALS), 1u);
    if (slot >= dp.terminal_capacity) return;
    ((Code*)dp.terminal_codes)[slot] = code;
    ((u32*)dp.terminal_levels)[slot] = level;
    ((u32*)dp.terminal_outcomes)[slot] = outcome;
    if (outcome == MIXED && dp.bricks_wanted) {
        const u32 brick = atomicAdd(dp_counter(dp, DP_LEAVES), 1u);
        ((u32*)dp.terminal_bricks)[slot] = brick;
        ((Code*)dp.leaf_codes)[brick] = code;
    }
}

// Explores a region and sees to what follows; descends only where it must.
DEVICE void dp_explore(const DpArgs& dp, u32 level, Entry entry) {
    const RunArgs& run = *(const RunArgs*)dp.run;
    const FieldArgs& field = *(const FieldArgs*)dp.field;
    Code parents[DP_LEVELS];
    u32 children[DP_LEVELS];
    u32 depth = 0;
    while (true) {
        const LaunchArgs& launch = level_of(dp, level);
        const Region region = region_at(run, launch, entry.coords);
        Tally explored;
        const u32 outcome = explore(run, field, region, explored);
        settle_tally(launch, explored, TALLY_EXPLORED);
        const bool mixed = outcome == MIXED;
        bool descend = false;
        team_sync();
        if (mixed && !launch.last) {
            u32 children_are = GONE;
            if (threadIdx.x == 0) {
                count(launch, TALLY_SUBDIVIDED, 1);
                children_are = subdivide(dp, level, entry.code);
            }
            descend = team_broadcast(children_are) == IN_PLACE;
            team_sync();
        } else {
            u32 here = 1;
            if (threadIdx.x == 0) {
                count(launch, mixed ? TALLY_LEAVES : TALLY_FILLED, 1);
                count(launch, mixed ? TALLY_LEAF_CELLS : TALLY_FILLED_CELLS, region.volume());
                remember(dp, level, entry.code, outcome);
                const u32 settle = mixed ? launch.leaf : launch.fill;
                here = settle == SETTLE_IN_PLACE;
                if (settle == SETTLE_LISTED) {
                    const u32 pieces = mixed ? launch.leaf_pieces : launch.pieces;
                    here = !(pieces > 1 && take_credit(dp, pieces) &&
                             launched(dp,
                                      mixed ? DEV_LAUNCH(dp_leaf, pieces, &dp, u64(level), entry.code)
                                            : DEV_LAUNCH(dp_fill, pieces, &dp, u64(level) << 32 | outcome, entry.code),
                                      pieces));
                }
            }
            here = team_broadcast(here);
            team_sync();
            if (here && !mixed) fill(run, region, outcome, 0, 1);
            if (here && mixed) {
                Tally evaluated;
                evaluate(run, field, region, nullptr, 0, 1, evaluated);
                settle_tally(launch, evaluated, TALLY_EVALUATED);
            }
        }
        if (descend) {
            parents[depth] = entry.code;
            children[depth++] = 0;
            level++;
        } else {
            while (depth > 0 && ++children[depth - 1] == CHILDREN) {
                depth--;
                level--;
            }
            if (depth == 0) return;
        }
        entry = curve_child(level_of(dp, level), parents[depth - 1], children[depth - 1]);
    }
}

// Level 0: a block per region of the initial grid.
ENTRY(dp_roots, const DpArgs*, dp, u64, first, u64, unused) {
    dp_explore(*dp, 0, curve_root(level_of(*dp, 0), u32(first + blockIdx.x)));
}

// A later round: the families that overflowed in the last one.
ENTRY(dp_round, const DpArgs*, dp, u64, first, u64, unused) {
    const u64 block = first + blockIdx.x;
    const u32 family = u32(block / CHILDREN);
    const u32 level = ((const u32*)dp->taken_levels)[family];
    dp_explore(*dp, level, curve_child(level_of(*dp, level), ((const Code*)dp->taken)[family], u32(block % CHILDREN)));
}

// The cells of the leaves, one block per brick.
ENTRY(dp_bricks, const DpArgs*, dp, u64, first, u64, level) {
    const u64 brick = first + blockIdx.x;
    const LaunchArgs& launch = level_of(*dp, u32(level));
    const RunArgs& run = *(const RunArgs*)dp->run;
    const Region region = region_at(run, launch, curve_coords(launch, ((const Code*)dp->leaf_codes)[brick]));
    Tally evaluated;
    evaluate(run, *(const FieldArgs*)dp->field, region, (CellValue*)launch.bricks + brick * launch.brick_cells, 0, 1,
             evaluated);
    settle_tally(launch, evaluated, TALLY_EVALUATED);
}
