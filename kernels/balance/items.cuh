// Work-items and their units: what every balancer stands on (src/balance/).
//
// Item i owns the units from prefix[i] up to prefix[i + 1]; it may own none. A balancer calls `body(item, rank, unit)` once for
// every unit, with the item that owns it and its place there.
#pragma once

constexpr u32 ALL_LANES = 0xffffffff;

DEVICE const u64* prefix_of(const BalanceArgs& args) { return (const u64*)args.prefix; }

// The number of this thread in its grid, and how many there are.
DEVICE u64 thread() { return u64(blockIdx.x) * BLOCK + threadIdx.x; }
DEVICE u64 threads() { return u64(gridDim.x) * BLOCK; }

DEVICE u64 least(u64 a, u64 b) { return a < b ? a : b; }
DEVICE u64 most(u64 a, u64 b) { return a < b ? b : a; }

// The largest i below n with starts[i] <= unit, of which there is one: of items that start together the last owns the unit, and
// the others are empty.
template <class T> DEVICE u32 owner(const T* starts, u32 n, T unit) {
    u32 i = 0;
    for (u32 step = n > 1 ? 1u << (31 - __clz(int(n - 1))) : 0; step > 0; step /= 2) {
        if (i + step < n && starts[i + step] <= unit) i += step;
    }
    return i;
}

// The same by a whole warp, 32 probes a round.
DEVICE u32 owner_by_warp(const u64* starts, u32 n, u64 unit) {
    u32 first = 0;
    while (n > 1) {
        const u32 step = ceil_div(n, 32), probe = lane() * step;
        const bool before = probe < n && starts[first + probe] <= unit;
        const u32 skipped = (__popc(__ballot_sync(ALL_LANES, before)) - 1) * step;
        first += skipped;
        n = u32(least(step, n - skipped));
    }
    return first;
}

// The sum over the threads of the block before this one, and over all. `sums` has a place per warp.
DEVICE u32 sum_before(u32 value, u32* sums, u32& total) {
    u32 sum = value;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        const u32 other = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane() >= distance) sum += other;
    }
    if (lane() == 31) sums[warp()] = sum;
    __syncthreads();
    u32 before = 0;
    total = 0;
    for (u32 w = 0; w < WARPS; w++) {
        if (w == warp()) before = total;
        total += sums[w];
    }
    // Nothing beside `sums` is written before all have read it: loads are made wider than what is asked for.
    __syncthreads();
    return before + sum - value;
}
