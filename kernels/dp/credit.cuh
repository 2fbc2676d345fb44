// The budget of dynamic parallelism: how many blocks launched from the device may be in flight, and what becomes of a
// launch that is refused.
//
// A launch takes what its grid has, and each block gives one back when it is done. Pending launches, those whose first
// block has not begun, are counted beside it.
#pragma once

DEVICE const LaunchArgs& level_of(const DpArgs& dp, u32 level) { return ((const LaunchArgs*)dp.levels)[level]; }
DEVICE u32* dp_counter(const DpArgs& dp, u32 counter) { return (u32*)dp.counters + counter; }

DEVICE void count_up(const DpArgs& dp, u32 counter) { atomicAdd(dp_counter(dp, counter), 1u); }
DEVICE void count_down(const DpArgs& dp, u32 counter, u32 by) { atomicAdd(dp_counter(dp, counter), 0u - by); }

// Takes `blocks` credits; false if the budget has not as many.
DEVICE bool take_credit(const DpArgs& dp, u32 blocks) {
    const u32 taken = atomicAdd(dp_counter(dp, DP_IN_FLIGHT), blocks) + blocks;
    if (taken > dp.budget) {
        count_down(dp, DP_IN_FLIGHT, blocks);
        count_up(dp, DP_REFUSED);
        return false;
    }
    atomicMax(dp_counter(dp, DP_MOST_IN_FLIGHT), taken);
    atomicMax(dp_counter(dp, DP_MOST_PENDING), atomicAdd(dp_counter(dp, DP_PENDING), 1u) + 1);
    return true;
}

// What a launch came to, by its error code: counts it in a column of `launch`, or takes its credit back.
DEVICE bool launched(const DpArgs& dp, const LaunchArgs& launch, u32 column, u32 error, u32 blocks) {
    if (error == 0) {
        count(launch, column, 1);
        return true;
    }
    count_up(dp, DP_FAILED);
    count_down(dp, DP_PENDING, 1);
    count_down(dp, DP_IN_FLIGHT, blocks);
    return false;
}

// A grid launched on credit has begun.
DEVICE void begin_grid(const DpArgs& dp) {
    if (threadIdx.x == 0 && blockIdx.x == 0) count_down(dp, DP_PENDING, 1);
}

// One of its blocks is done.
DEVICE void give_credit(const DpArgs& dp) {
    if (threadIdx.x == 0) count_down(dp, DP_IN_FLIGHT, 1);
}

// Leaves the children of region `code` to the host's next round; false if its table is full. Called by thread 0.
DEVICE bool overflow(const DpArgs& dp, u32 level, Code code) {
    const u32 slot = atomicAdd(dp_counter(dp, DP_OVERFLOW), 1u);
    if (slot >= dp.capacity) {
        count_up(dp, DP_IN_PLACE);
        return false;
    }
    ((Code*)dp.overflow)[slot] = code;
    ((u32*)dp.overflow_levels)[slot] = level + 1;
    return true;
}
