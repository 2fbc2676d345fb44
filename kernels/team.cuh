// The threads that share a region: one block. With one warp per block no barrier is needed.
#pragma once

DEVICE void team_sync() {
    if (TEAM == 32) __syncwarp();
    else __syncthreads();
}

// True for everyone if it is true for anyone.
DEVICE bool team_any(bool value) {
    if (TEAM == 32) return __any_sync(0xffffffffu, value);
    return __syncthreads_or(value);
}

// Something that a warp shares, whose address stays in a register: else it is computed anew wherever it is used.
template <class T> DEVICE T& held(T& shared) {
#if __CUDA_ARCH__
    u32 address = u32(__cvta_generic_to_shared(&shared));
    asm volatile("" : "+r"(address));
    return *(T*)__builtin_assume_aligned(__cvta_shared_to_generic(address), alignof(T));
#else
    return shared;
#endif
}

// Thread 0's value for everyone. Between two calls in one kernel there must be a barrier of the caller's.
template <class T> DEVICE T team_broadcast(T value) {
    if (TEAM == 32) return __shfl_sync(0xffffffffu, value, 0);
    __shared__ T shared;
    if (threadIdx.x == 0) shared = value;
    __syncthreads();
    return shared;
}

// Blocks of a grid from which on they hardly run all at once.
constexpr u32 CROWD = 4096;

// The word at `address`, which is not 0 if the host wants the run to end (src/cuda/watch.rs).
DEVICE u32 stop_word(u64 address) { return *(const volatile u32*)address; }

// What a warp has heard of that. It listens at every LISTEN-th step of a loop, and in a crowd, or where `early` says so, when it
// begins, so that blocks which waited for a place are over at once; short work elsewhere never waits for the answer. Made first
// thing in a kernel: the answer then comes while the block reads what it works on. It takes no barrier; warps of a block may hear
// at different steps.
struct Listener {
    u64 address;
    u32 heard;  // the word itself: a comparison would wait for it
    bool ended; // what the warp made of it

    DEVICE explicit Listener(u64 address, bool early = gridDim.x >= CROWD)
        : address(address), heard(early ? stop_word(address) : 0), ended(false) {}

    // True for the whole warp if it is to end before the step of that number.
    DEVICE bool ends(u32 step) {
        if (step % LISTEN == 0) {
            if (step > 0) listen();
            ended = __any_sync(0xffffffffu, heard != 0);
        }
        return ended;
    }

    DEVICE void listen() { heard = stop_word(address); }
};

DEVICE u64 warp_sum(u64 value) {
#if __CUDA_ARCH__ >= 800
    // In three digits, whose sums fit into 32 bits: a third of the instructions.
    constexpr u32 DIGIT = 22, MASK = (1u << DIGIT) - 1;
    const u64 low = __reduce_add_sync(0xffffffffu, u32(value) & MASK);
    const u64 middle = __reduce_add_sync(0xffffffffu, u32(value >> DIGIT) & MASK);
    const u64 high = __reduce_add_sync(0xffffffffu, u32(value >> 2 * DIGIT));
    return low + (middle << DIGIT) + (high << 2 * DIGIT);
#else
#pragma unroll
    for (u32 distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffffu, value, distance);
    return value;
#endif
}

DEVICE u32 warp_least(u32 value) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(0xffffffffu, value);
#else
#pragma unroll
    for (u32 distance = 16; distance > 0; distance /= 2) {
        const u32 other = __shfl_xor_sync(0xffffffffu, value, distance);
        value = other < value ? other : value;
    }
    return value;
#endif
}

// What a level's regions cost, gathered per thread and added once per warp. Counters are spread over rows, so that
// blocks rarely meet; the host adds the rows up.
struct Tally {
    Index visited = 0;
    u64 labels = 0;

    DEVICE void add(u64 label, bool mine) {
        visited += mine;
        if (LABELS_COUNT) labels += mine ? label : 0;
    }
};

DEVICE void count(u64 tallies, u32 column, u64 value) {
    atomicAdd((u64*)tallies + (blockIdx.x % TALLY_ROWS) * TALLY_COLUMNS + column, value);
}

DEVICE void settle_tally(u64 tallies, const Tally& tally, u32 column) {
    const u64 visited = warp_sum(tally.visited);
    const u64 labels = LABELS_COUNT ? warp_sum(tally.labels) : 0;
    if (lane() == 0 && visited > 0) {
        count(tallies, column, visited);
        if (LABELS_COUNT) count(tallies, TALLY_LABELS, labels);
    }
}
