// `--dp-launch block`: a block examines a whole family, and launches one grid for all its mixed regions, up to 64 at a
// time: the blocks of that grid take one of their families each.
#pragma once

// A family under examination, up to 64 regions at a time: bit b of the mask is region `first + b`, and mixed. Of
// the roots, families are runs of CHILDREN regions, and `parent` is the number of the first.
struct Batch {
    Code parent;
    u32 first;
    u32 level;
    u64 mask;
};

DEVICE Entry member(const DpArgs& dp, const Batch& batch, u32 number) {
    const ExploreArgs& launch = level_of(dp, batch.level);
    if (batch.level == dp.root_level) return olt_root(launch, u32(batch.parent) + number);
    return curve_child(launch, batch.parent, number);
}

DEVICE u32 members(const DpArgs& dp, const Batch& batch) {
    if (batch.level > dp.root_level) return CHILDREN;
    const u64 left = level_of(dp, batch.level).regions - batch.parent;
    return left < CHILDREN ? u32(left) : CHILDREN;
}

// The family of the first region in the mask, which leaves it.
DEVICE Batch next_family(const DpArgs& dp, Batch& batch) {
    const u32 number = batch.first + __ffsll(batch.mask) - 1;
    batch.mask &= batch.mask - 1;
    return {member(dp, batch, number).code, 0, batch.level + 1, 0};
}

// The families of a grid, one per block: those of a batch, or the roots or those that
// overflowed in the last round, from number `batch.parent` on (the host gives that number for a batch; it starts with it).
ENTRY_AHEAD(dp_block, const DpArgs*, Batch, u64);

// Hands the families of a batch over to a grid, or to the next round; the mask of those that stay. Called by thread 0.
DEVICE u64 what_stays(const DpArgs& dp, const Batch& batch) {
    const u32 families = __popcll(batch.mask);
    const u32 ticket = take_credit(dp, families);
    if (ticket != NO_TICKET) {
        const u32 error = DEV_LAUNCH(dp_block, families, &dp, batch, Origin::word(batch.level, ticket));
        if (launched(dp, level_of(dp, batch.level + 1), TALLY_GRIDS, error, ticket)) return 0;
    }
    u64 stays = batch.mask;
    Batch rest = batch;
    while (rest.mask != 0) {
        const u64 before = rest.mask;
        if (overflow(dp, batch.level, next_family(dp, rest).parent)) stays &= ~(before & (0 - before));
    }
    return stays;
}

ENTRY(dp_block, const DpArgs*, args, Batch, batch, u64, from) {
    const DpArgs& dp = *args;
    const Origin origin(from);
    Batch at = batch;
    if (origin.level == FROM_ROOTS) {
        at = {Code((u64(batch.parent) + blockIdx.x) * CHILDREN), 0, dp.root_level, 0};
    } else if (origin.level == FROM_OVERFLOW) {
        const u64 family = u64(batch.parent) + blockIdx.x;
        at = {((const Code*)dp.taken)[family], 0, ((const u32*)dp.taken_levels)[family], 0};
    } else {
        begin_grid(dp);
        for (u32 i = 0; i < blockIdx.x; i++) at.mask &= at.mask - 1;
        at = next_family(dp, at);
    }
    // A family, and those below it that could not be handed over.
    Batch open[MOST_LEVELS];
    u32 depth = 0;
    while (true) {
        const u32 end = members(dp, at) - at.first < 64 ? members(dp, at) : at.first + 64;
        for (u32 number = at.first; number < end; number++) {
            if (examine(dp, at.level, member(dp, at, number))) at.mask |= u64(1) << (number - at.first);
        }
        if (team_any(stop_word(dp.stop) != 0)) break;
        if (at.mask != 0) {
            u64 stays = 0;
            if (threadIdx.x == 0) stays = what_stays(dp, at);
            const u32 low = team_broadcast(u32(stays));
            team_sync();
            const u32 high = team_broadcast(u32(stays >> 32));
            team_sync();
            at.mask = u64(high) << 32 | low;
        }
        // On to the family of a region that stayed, or to the next regions, or up.
        while (at.mask == 0) {
            at.first += 64;
            if (at.first < members(dp, at) || depth == 0) break;
            at = open[--depth];
        }
        if (at.mask != 0) {
            open[depth] = at;
            at = next_family(dp, open[depth++]);
        } else if (at.first >= members(dp, at)) {
            break;
        }
    }
    if (origin.on_credit()) end_block(dp, origin);
}
