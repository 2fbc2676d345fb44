// `--dp-launch region`: every mixed region launches a grid for its children (Adinetz 2014; ASK paper, §4).
#pragma once

// The regions of a grid, one per block: the children, on the origin's level, of the region whose code is `start`; or the
// roots or the families that overflowed in the last round, from number `start` on.
ENTRY_AHEAD(dp_region, const DpArgs*, u64, u64);

// Hands the children of a region over to a grid, or to the next round; false if neither has room. Called by thread 0.
DEVICE bool hand_over(const DpArgs& dp, u32 level, Code code) {
    const u32 ticket = take_credit(dp, CHILDREN);
    if (ticket != NO_TICKET) {
        const u32 error = DEV_LAUNCH(dp_region, CHILDREN, &dp, u64(code), Origin::word(level + 1, ticket));
        if (launched(dp, level_of(dp, level + 1), TALLY_GRIDS, error, ticket)) return true;
    }
    return overflow(dp, level, code);
}

ENTRY(dp_region, const DpArgs*, args, u64, start, u64, from) {
    const DpArgs& dp = *args;
    const Origin origin(from);
    u32 level = 0;
    Entry entry;
    if (origin.level == FROM_ROOTS) {
        level = dp.root_level;
        entry = olt_root(level_of(dp, level), u32(start) + blockIdx.x);
    } else if (origin.level == FROM_OVERFLOW) {
        const u64 block = start + blockIdx.x;
        level = ((const u32*)dp.taken_levels)[block / CHILDREN];
        entry = curve_child(level_of(dp, level), ((const Code*)dp.taken)[block / CHILDREN], u32(block % CHILDREN));
    } else {
        begin_grid(dp);
        level = origin.level;
        entry = curve_child(level_of(dp, level), Code(start), blockIdx.x);
    }
    // A region, and all below it that could not be handed over.
    Code parents[MOST_LEVELS];
    u32 children[MOST_LEVELS];
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
            if (depth == 0) break;
        }
        entry = curve_child(level_of(dp, level), parents[depth - 1], children[depth - 1]);
    }
    if (origin.on_credit()) end_block(dp, origin);
}
