// The threads that share a region: one block. With one warp per block no barrier is needed.
#pragma once

DEVICE void team_sync() {
    if (WARPS == 1) __syncwarp();
    else __syncthreads();
}

// True for everyone if it is true for anyone.
DEVICE bool team_any(bool value) {
    if (WARPS == 1) return __any_sync(0xffffffffu, value);
    return __syncthreads_or(value);
}

// Thread 0's value for everyone. Between two calls in one kernel there must be a barrier of the caller's.
template <class T> DEVICE T team_broadcast(T value) {
    if (WARPS == 1) return __shfl_sync(0xffffffffu, value, 0);
    __shared__ T shared;
    if (threadIdx.x == 0) shared = value;
    __syncthreads();
    return shared;
}

// Blocks of a grid from which on they hardly run all at once.
constexpr u32 CROWD = 4096;

// True if the host wants the run to end (src/cuda/watch.rs).
DEVICE bool stopped(const RunArgs& run) { return *(const volatile u32*)run.stop != 0; }

// The same for everyone, as one thread sees it, at one of LISTEN steps of a loop. In a crowd that is the first, so that
// blocks which wait for a place are over at once; elsewhere the last, so that short work never waits for the answer.
DEVICE bool team_stopped(const RunArgs& run, u32 step) {
    const u32 when = gridDim.x >= CROWD ? 0 : LISTEN - 1;
    return step % LISTEN == when && team_any(threadIdx.x == 0 && stopped(run));
}

DEVICE u64 warp_sum(u64 value) {
#pragma unroll
    for (u32 distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
}

// What a level's regions cost, gathered per thread and added once per warp. Counters are spread over rows, so that
// blocks rarely meet; the host adds the rows up.
struct Tally {
    u64 visited = 0;
    u64 labels = 0;

    DEVICE void add(u64 label, bool mine) {
        visited += mine;
        if (LABELS_COUNT) labels += mine ? label : 0;
    }
};

DEVICE void count(const LaunchArgs& launch, u32 column, u64 value) {
    u64* rows = (u64*)launch.tallies;
    atomicAdd(rows + (blockIdx.x % TALLY_ROWS) * TALLY_COLUMNS + column, value);
}

DEVICE void settle_tally(const LaunchArgs& launch, const Tally& tally, u32 column) {
    const u64 visited = warp_sum(tally.visited);
    const u64 labels = LABELS_COUNT ? warp_sum(tally.labels) : 0;
    if (lane() == 0 && visited > 0) {
        count(launch, column, visited);
        if (LABELS_COUNT) count(launch, TALLY_LABELS, labels);
    }
}
