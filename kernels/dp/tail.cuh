// `--dp-launch tail`: the device drives ASK. A grid examines one level's table and writes the next one's; its last block
// tail-launches the grid of that level, which starts when this one and all it launched are done.
#pragma once

// Regions of a level: the roots, or the children of what the level before found mixed.
DEVICE u64 level_regions(const DpArgs& dp, u32 level) {
    if (level == dp.root_level) return level_of(dp, level).regions;
    return u64(((const u32*)level_of(dp, level - 1).counters)[COUNTER_MIXED]) * CHILDREN;
}

ENTRY(dp_level, const DpArgs*, dp, u64, first, u64, level_number) {
    const u32 level = u32(level_number);
    const ExploreArgs& launch = level_of(*dp, level);
    const Entry entry = olt_read(launch, u32(first + blockIdx.x));
    const bool mixed = examine(*dp, level, entry);
    if (threadIdx.x != 0) return;
    u32* counters = (u32*)launch.counters;
    if (mixed) {
        // The host makes a longer table, and starts again, if the count says that this one was too short.
        const u32 slot = atomicAdd(counters + COUNTER_MIXED, 1u);
        if (slot < dp->table_capacity) ((Code*)launch.next)[slot] = entry.code;
    }
    __threadfence();
    if (atomicAdd(counters + COUNTER_DONE, 1u) + 1 != level_regions(*dp, level)) return;
    __threadfence();
    const u32 families = atomicAdd(counters + COUNTER_MIXED, 0u);
    const u64 blocks = u64(families) * CHILDREN;
    // The host goes on where the device cannot.
    if (families == 0 || families > dp->table_capacity || blocks > dp->max_grid) return;
    if (DEV_TAIL_LAUNCH(dp_level, u32(blocks), dp, u64(0), u64(level + 1)) == 0) {
        count(level_of(*dp, level + 1).tallies, TALLY_GRIDS, 1);
    } else {
        count_up(*dp, DP_FAILED);
    }
}
