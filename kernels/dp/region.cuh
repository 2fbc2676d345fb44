// `--dp-launch region`: every mixed region launches a grid for its children (Adinetz 2014; ASK paper, §4).
#pragma once

// The regions of a grid, one per block: the children, on the origin's level, of the region whose code is `start`; or the
// roots or the families that overflowed in the last round, from number `start` on.
ENTRY_AHEAD(dp_region, const DpArgs*, u64, u64);

// The grid of a family: all children in a row; or, where grids are native, as many as there are along each of three axes, in as many
// grids as there are along the others.
DEVICE constexpr u32 family_side(u32 j) { return NATIVE_GRIDS ? (j < DIM ? split(j) : 1) : (j == 0 ? CHILDREN : 1); }
constexpr u32 FAMILY_GRID = family_side(0) * family_side(1) * family_side(2);

// Hands the children of a region over to grids, or to the next round; returns how many of them have a place. Called by thread 0.
DEVICE u32 hand_over(const DpArgs& dp, u32 level, Code code) {
    u32 handed = 0;
    while (handed < CHILDREN) {
        const u32 ticket = take_credit(dp, FAMILY_GRID);
        if (ticket == NO_TICKET) break;
        const GridShape grid{family_side(0), family_side(1), family_side(2)};
        const u32 error = DEV_LAUNCH(dp_region, grid, &dp, u64(code), Origin::word(level + 1, ticket, handed));
        if (!launched(dp, level_of(dp, level + 1), TALLY_GRIDS, error, ticket)) break;
        handed += FAMILY_GRID;
    }
    // The next round takes whole families.
    if (handed == 0) return overflow(dp, level, code) ? CHILDREN : 0;
    if (handed < CHILDREN) count_up(dp, DP_IN_PLACE);
    return handed;
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
        const u32 child = origin.first + (blockIdx.z * family_side(1) + blockIdx.y) * family_side(0) + blockIdx.x;
        entry = curve_child(level_of(dp, level), Code(start), child);
    }
    // A region, and all below it that could not be handed over.
    Code parents[MOST_LEVELS];
    u32 children[MOST_LEVELS];
    u32 depth = 0;
    while (true) {
        u32 handed = CHILDREN;
        if (examine(dp, level, entry)) {
            if (threadIdx.x == 0) handed = hand_over(dp, level, entry.code);
            handed = team_broadcast(handed);
            team_sync();
        }
        if (handed < CHILDREN) {
            parents[depth] = entry.code;
            children[depth++] = handed;
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
