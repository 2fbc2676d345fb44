// `--dp-launch block`: a block examines a whole family, and launches one grid for all its mixed regions, up to 64 at a
// time: the blocks of that grid take one of their families each.
#pragma once

// Mixed regions of a family: bit b of the mask is region `first + b`.
struct Batch {
    u64 mask;
    Code parent;
    u32 first;
    u32 level;
};

// A member of a family. On level 0, families are runs of CHILDREN regions, and `parent` is the number of the first.
DEVICE Entry member(const DpArgs& dp, u32 level, Code parent, u32 number) {
    const LaunchArgs& launch = level_of(dp, level);
    return level == 0 ? curve_root(launch, u32(parent) + number) : curve_child(launch, parent, number);
}

static __device__ __noinline__ void examine_family(const DpArgs& dp, u32 level, Code parent);

ENTRY(dp_batch, const DpArgs*, dp, Batch, batch, u64, unused) {
    begin_grid(*dp);
    u64 mask = batch.mask;
    for (u32 i = 0; i < blockIdx.x; i++) mask &= mask - 1;
    const u32 number = batch.first + __ffsll(mask) - 1;
    examine_family(*dp, batch.level + 1, member(*dp, batch.level, batch.parent, number).code);
    give_credit(*dp);
}

// Hands the families of a batch over to a grid; false if there is no credit. Called by thread 0.
DEVICE bool hand_over(const DpArgs& dp, const Batch& batch) {
    const u32 families = __popcll(batch.mask);
    if (!take_credit(dp, families)) return false;
    const u32 error = DEV_LAUNCH(dp_batch, families, &dp, batch, u64(0));
    return launched(dp, level_of(dp, batch.level + 1), TALLY_GRIDS, error, families);
}

static __device__ __noinline__ void examine_family(const DpArgs& dp, u32 level, Code parent) {
    const u64 roots = level_of(dp, 0).regions;
    const u32 members = level == 0 && roots - parent < CHILDREN ? u32(roots - parent) : CHILDREN;
    for (u32 first = 0; first < members; first += 64) {
        Batch batch = {0, parent, first, level};
        for (u32 b = 0; b < 64 && first + b < members; b++) {
            if (examine(dp, level, member(dp, level, parent, first + b))) batch.mask |= u64(1) << b;
        }
        if (batch.mask == 0) continue;
        u32 stays = 0;
        if (threadIdx.x == 0) stays = !hand_over(dp, batch);
        stays = team_broadcast(stays);
        team_sync();
        if (!stays) continue;
        for (u64 mask = batch.mask; mask != 0; mask &= mask - 1) {
            const Code code = member(dp, level, parent, first + __ffsll(mask) - 1).code;
            u32 here = 0;
            if (threadIdx.x == 0) here = !overflow(dp, level, code);
            here = team_broadcast(here);
            team_sync();
            // What this block keeps goes on region by region.
            for (u32 child = 0; here && child < CHILDREN; child++) {
                descend(dp, level + 1, curve_child(level_of(dp, level + 1), code, child));
            }
        }
    }
}

// Level 0: a block per CHILDREN regions of the initial grid.
ENTRY(dp_root_families, const DpArgs*, dp, u64, first, u64, unused) {
    examine_family(*dp, 0, Code((first + blockIdx.x) * CHILDREN));
}

// A later round: a block per family that overflowed in the last one.
ENTRY(dp_round_families, const DpArgs*, dp, u64, first, u64, unused) {
    const u64 family = first + blockIdx.x;
    examine_family(*dp, ((const u32*)dp->taken_levels)[family], ((const Code*)dp->taken)[family]);
}
