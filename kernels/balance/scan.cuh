// Prefix sums of sizes, in one pass: blocks take tiles in order, publish the sums of theirs (SCAN_ITEMS per thread), and look back
// over those of others until they know what lies before (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", 2016).
#pragma once

// What is known of a tile, in the two highest bits of its word; the rest is a sum.
constexpr u64 SUM_OF_TILE = 1ull << 62, SUM_TO_TILE = 2ull << 62, SUM = SUM_OF_TILE - 1;

constexpr u32 SCAN_TILE = BLOCK * SCAN_ITEMS;

// Where a tile's entry lies in shared memory: neighbours side by side, and those of one thread in different banks.
DEVICE u32 staged_at(u32 entry) { return entry + entry / 16; }

// Units of all tiles before `tile`, by the first warp.
DEVICE u64 look_back(volatile u64* status, u32 tile) {
    u64 before = 0;
    for (i64 last = i64(tile) - 1;; last -= 32) {
        const i64 at = last - lane();
        u64 word = at >= 0 ? status[at] : SUM_TO_TILE;
        while (__any_sync(ALL_LANES, word <= SUM)) {
            if (word <= SUM) word = status[at];
        }
        const u32 whole = __ballot_sync(ALL_LANES, word >= SUM_TO_TILE);
        // Tiles before the nearest one that knows all are in its sum.
        const u32 nearest = whole != 0 ? __ffs(int(whole)) - 1 : 31;
        u64 sum = lane() <= nearest ? word & SUM : 0;
#pragma unroll
        for (u32 distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(ALL_LANES, sum, distance);
        before += sum;
        if (whole != 0) return before;
    }
}

// Into `to`, one entry more than there are items: the sums of what `counts(size)` makes of sizes.
template <class Counts> DEVICE void scan_tile(const BalanceArgs& args, u64* to, const Counts& counts) {
    __shared__ u32 taken;
    __shared__ u64 sums[WARPS], known, staged[SCAN_TILE + SCAN_TILE / 16];
    volatile u64* status = (volatile u64*)args.status;
    if (threadIdx.x == 0) taken = atomicAdd((u32*)args.counters + BALANCE_TICKET, 1u);
    __syncthreads();
    const u32 tile = taken;
    const u32* sizes = (const u32*)args.sizes;
    const u64 first = u64(tile) * SCAN_TILE;
#pragma unroll
    for (u32 i = 0; i < SCAN_ITEMS; i++) {
        const u32 entry = i * BLOCK + threadIdx.x;
        staged[staged_at(entry)] = first + entry < args.items ? counts(sizes[first + entry]) : 0;
    }
    __syncthreads();
    u64 values[SCAN_ITEMS], mine = 0;
#pragma unroll
    for (u32 i = 0; i < SCAN_ITEMS; i++) {
        values[i] = mine;
        mine += staged[staged_at(threadIdx.x * SCAN_ITEMS + i)];
    }
    u64 sum = mine;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        const u64 other = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane() >= distance) sum += other;
    }
    if (lane() == 31) sums[warp()] = sum;
    __syncthreads();
    u64 total = 0, before = 0;
    for (u32 w = 0; w < WARPS; w++) {
        if (w == warp()) before = total;
        total += sums[w];
    }
    if (warp() == 0) {
        if (lane() == 0) status[tile] = (tile == 0 ? SUM_TO_TILE : SUM_OF_TILE) | total;
        const u64 earlier = tile == 0 ? 0 : look_back(status, tile);
        if (lane() == 0) {
            if (tile > 0) status[tile] = SUM_TO_TILE | (earlier + total);
            known = earlier;
        }
    }
    before += sum - mine;
#pragma unroll
    for (u32 i = 0; i < SCAN_ITEMS; i++) staged[staged_at(threadIdx.x * SCAN_ITEMS + i)] = before + values[i];
    __syncthreads();
#pragma unroll
    for (u32 i = 0; i < SCAN_ITEMS; i++) {
        const u32 entry = i * BLOCK + threadIdx.x;
        if (first + entry < args.items) to[first + entry] = known + staged[staged_at(entry)];
    }
    if (threadIdx.x == 0 && args.items <= first + SCAN_TILE) to[args.items] = known + total;
}
