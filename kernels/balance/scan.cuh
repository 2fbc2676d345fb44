// Prefix sums of sizes, in one pass: blocks take tiles in order, publish the sums of theirs (SCAN_ITEMS per thread), and look back
// over those of others until they know what lies before (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled
// Look-back", 2016).
#pragma once

// What is known of a tile, in the two highest bits of its word; the rest is a sum.
constexpr u64 SUM_OF_TILE = 1ull << 62, SUM_TO_TILE = 2ull << 62, SUM = SUM_OF_TILE - 1;

constexpr u32 SCAN_TILE = BLOCK * SCAN_ITEMS;

// What the sums of a warp's items fit.
#if NARROW_SUMS
using SumInWarp = u32;
#else
using SumInWarp = u64;
#endif

// Neighbours, read or written at once.
template <class T> struct alignas(2 * sizeof(T)) Two {
    T first, second;
};

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

// Into `to`, one entry more than there are items: the sums of what `counts(size)` makes of sizes. A lane has pairs of neighbours,
// 64 entries to a round of its warp, so that nothing need be turned round in shared memory.
template <class Counts> DEVICE void scan_tile(const BalanceArgs& args, u64* to, const Counts& counts) {
    constexpr u32 PAIRS = SCAN_ITEMS / 2;
    __shared__ u32 taken;
    __shared__ u64 sums[WARPS], known;
    volatile u64* status = (volatile u64*)args.status;
    if (threadIdx.x == 0) taken = atomicAdd((u32*)args.counters + BALANCE_TICKET, 1u);
    __syncthreads();
    const u32 tile = taken, mine = warp() * 32 * SCAN_ITEMS + 2 * lane();
    const u64 first = u64(tile) * SCAN_TILE;
    const u32 there = u32(least(SCAN_TILE, args.items - first));
    const u32* sizes = (const u32*)args.sizes + first;
    to += first;
    u32 second[PAIRS];
    SumInWarp sum[PAIRS], both[PAIRS];
#pragma unroll
    for (u32 i = 0; i < PAIRS; i++) {
        const u32 entry = mine + i * 64;
        Two<u32> two{0, 0};
        if (entry + 1 < there) two = *(const Two<u32>*)(sizes + entry);
        else if (entry < there) two.first = sizes[entry];
        second[i] = u32(counts(two.second));
        sum[i] = both[i] = SumInWarp(counts(two.first)) + second[i];
    }
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
#pragma unroll
        for (u32 i = 0; i < PAIRS; i++) {
            const SumInWarp other = __shfl_up_sync(ALL_LANES, sum[i], distance);
            if (lane() >= distance) sum[i] += other;
        }
    }
    SumInWarp of_warp = 0;
#pragma unroll
    for (u32 i = 0; i < PAIRS; i++) {
        const SumInWarp of_round = __shfl_sync(ALL_LANES, sum[i], 31);
        sum[i] += of_warp - both[i];
        both[i] -= second[i];
        of_warp += of_round;
    }
    if (lane() == 31) sums[warp()] = of_warp;
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
    __syncthreads();
    const u64 base = known + before;
#pragma unroll
    for (u32 i = 0; i < PAIRS; i++) {
        const u32 entry = mine + i * 64;
        const Two<u64> two{base + sum[i], base + sum[i] + both[i]};
        if (entry + 1 < there) *(Two<u64>*)(to + entry) = two;
        else if (entry < there) to[entry] = two.first;
    }
    if (threadIdx.x == 0 && args.items <= first + SCAN_TILE) to[there] = known + total;
}
