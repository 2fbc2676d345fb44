// The budget of dynamic parallelism: how many grids launched from the device may be in flight, and what becomes of a
// launch that is refused.
//
// A launch takes a ticket, which counts the blocks of its grid that are not done; the last one frees it. There are twice
// as many tickets as credits, so that a free one is found soon. Beside that, grids that have not begun are counted.
#pragma once

DEVICE const ExploreArgs& level_of(const DpArgs& dp, u32 level) { return ((const ExploreArgs*)dp.levels)[level]; }
DEVICE u32* dp_counter(const DpArgs& dp, u32 counter) { return (u32*)dp.counters + counter; }

DEVICE void count_up(const DpArgs& dp, u32 counter) { atomicAdd(dp_counter(dp, counter), 1u); }
DEVICE void count_down(const DpArgs& dp, u32 counter) { atomicAdd(dp_counter(dp, counter), 0u - 1u); }

// What a grid is told of its launch, in one word: a level (or FROM_ROOTS, FROM_OVERFLOW, for grids of the host), the
// ticket, and the first block's number among those of a stack.
struct Origin {
    u32 level, ticket, first;

    DEVICE explicit Origin(u64 word) : level(u32(word >> 56)), ticket(u32(word >> 32) & 0xffffff), first(u32(word)) {}
    DEVICE static u64 word(u32 level, u32 ticket, u32 first = 0) { return u64(level) << 56 | u64(ticket) << 32 | first; }
    DEVICE bool on_credit() const { return level < FROM_ROOTS; }
};

constexpr u32 NO_TICKET = 0xffffffff;

// A ticket for a grid of `blocks` blocks; NO_TICKET if the budget is spent.
DEVICE u32 take_credit(const DpArgs& dp, u32 blocks) {
    const u32 others = atomicAdd(dp_counter(dp, DP_IN_FLIGHT), 1u);
    if (others >= dp.budget) {
        count_down(dp, DP_IN_FLIGHT);
        count_up(dp, DP_REFUSED);
        return NO_TICKET;
    }
    atomicMax(dp_counter(dp, DP_MOST_IN_FLIGHT), others + 1);
    atomicMax(dp_counter(dp, DP_MOST_PENDING), atomicAdd(dp_counter(dp, DP_PENDING), 1u) + 1);
    const u32 tickets = 2 * dp.budget;
    u32 ticket = blockIdx.x * 2654435761u % tickets;
    while (atomicCAS((u32*)dp.tickets + ticket, 0u, blocks) != 0) ticket = ticket + 1 == tickets ? 0 : ticket + 1;
    return ticket;
}

// What a launch came to, by its error code: counts it in a column of `launch`, or takes its credit back.
DEVICE bool launched(const DpArgs& dp, const ExploreArgs& launch, u32 column, u32 error, u32 ticket) {
    if (error == 0) {
        count(launch.tallies, column, 1);
        return true;
    }
    count_up(dp, DP_FAILED);
    count_down(dp, DP_PENDING);
    atomicExch((u32*)dp.tickets + ticket, 0u);
    count_down(dp, DP_IN_FLIGHT);
    return false;
}

// A grid launched on credit has begun.
DEVICE void begin_grid(const DpArgs& dp) {
    if (threadIdx.x == 0 && blockIdx.x + blockIdx.y + blockIdx.z == 0) count_down(dp, DP_PENDING);
}

// A block of it is done, with all its threads.
DEVICE void end_block(const DpArgs& dp, const Origin& origin) {
    team_sync();
    if (threadIdx.x != 0) return;
    if (atomicAdd((u32*)dp.tickets + origin.ticket, 0u - 1u) == 1) count_down(dp, DP_IN_FLIGHT);
}

// Leaves the children of region `code` to the host's next round; false if its table is full. Called by thread 0.
DEVICE bool overflow(const DpArgs& dp, u32 level, Code code) {
    const u32 slot = atomicAdd(dp_counter(dp, DP_OVERFLOW), 1u);
    if (slot >= dp.capacity) {
        count_down(dp, DP_OVERFLOW); // or it would wrap, some day
        count_up(dp, DP_IN_PLACE);
        return false;
    }
    ((Code*)dp.overflow)[slot] = code;
    ((u32*)dp.overflow_levels)[slot] = level + 1;
    return true;
}
