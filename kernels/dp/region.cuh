// `--dp-launch region`: every mixed region launches a grid for its children (Adinetz 2014; ASK paper, §4).
#pragma once

static __device__ __noinline__ void descend(const DpArgs& dp, u32 level, Entry entry);

ENTRY(dp_family, const DpArgs*, dp, u64, level, Code, parent) {
    begin_grid(*dp);
    descend(*dp, u32(level), curve_child(level_of(*dp, u32(level)), parent, blockIdx.x));
    give_credit(*dp);
}

// Hands the children of a region over to a grid, or to the next round; false if neither has room. Called by thread 0.
DEVICE bool hand_over(const DpArgs& dp, u32 level, Code code) {
    if (take_credit(dp, CHILDREN)) {
        const u32 error = DEV_LAUNCH(dp_family, CHILDREN, &dp, u64(level + 1), code);
        if (launched(dp, level_of(dp, level + 1), TALLY_GRIDS, error, CHILDREN)) return true;
    }
    return overflow(dp, level, code);
}

// Examines a region and all below it that could not be handed over, without recursion.
static __device__ __noinline__ void descend(const DpArgs& dp, u32 level, Entry entry) {
    Code parents[DP_LEVELS];
    u32 children[DP_LEVELS];
    u32 depth = 0;
    while (true) {
        u32 stays = 0;
        if (examine(dp, level, entry)) {
            if (threadIdx.x == 0) stays = !hand_over(dp, level, entry.code);
            stays = team_broadcast(stays);
            team_sync();
        }
        if (stays) {
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
    descend(*dp, 0, curve_root(level_of(*dp, 0), u32(first + blockIdx.x)));
}

// A later round: the families that overflowed in the last one.
ENTRY(dp_round, const DpArgs*, dp, u64, first, u64, unused) {
    const u64 block = first + blockIdx.x;
    const u32 family = u32(block / CHILDREN);
    const u32 level = ((const u32*)dp->taken_levels)[family];
    descend(*dp, level, curve_child(level_of(*dp, level), ((const Code*)dp->taken)[family], u32(block % CHILDREN)));
}
