// A block, a warp, or a scan: an item of more units than a block has threads is done by the whole block, one of more than a
// warp has lanes by a warp, and what is left is laid side by side (Merrill, Garland and Grimshaw, "Scalable GPU Graph
// Traversal", 2012).
#pragma once

// Units that are laid side by side at a time.
constexpr u32 SLOTS = 2 * BLOCK;

DEVICE void balance(const BalanceArgs& args, Body& body) {
    __shared__ u32 winner, slots[SLOTS], sums[WARPS];
    __shared__ u64 starts[BLOCK];
    const u64* prefix = prefix_of(args);
    for (u64 base = u64(blockIdx.x) * BLOCK; base < args.items; base += threads()) {
        const u64 item = base + threadIdx.x;
        const u64 start = prefix[least(item, args.items)];
        u32 left = item < args.items ? u32(prefix[item + 1] - start) : 0;
        starts[threadIdx.x] = start;
        while (__syncthreads_or(left > BLOCK)) {
            // Any of them, and no two at once.
            if (left > BLOCK) atomicExch(&winner, threadIdx.x);
            __syncthreads();
            const u32 large = winner;
            if (large == threadIdx.x) left = 0;
            const u64 end = prefix[base + large + 1];
            for (u64 unit = starts[large] + threadIdx.x; unit < end; unit += BLOCK) {
                body(u32(base + large), u32(unit - starts[large]), unit);
            }
        }
        for (u32 large; (large = __ballot_sync(ALL_LANES, left > 32)) != 0;) {
            const u32 source = __ffs(int(large)) - 1;
            const u32 size = __shfl_sync(ALL_LANES, left, source), who = warp() * 32 + source;
            for (u32 rank = lane(); rank < size; rank += 32) body(u32(base + who), rank, starts[who] + rank);
            if (lane() == source) left = 0;
        }
        u32 total;
        const u32 before = sum_before(left, sums, total);
        for (u32 first = 0, laid = 0; first < total; first += SLOTS) {
            for (; laid < left && before + laid < first + SLOTS; laid++) slots[before + laid - first] = threadIdx.x * 32 + laid;
            __syncthreads();
            for (u32 slot = threadIdx.x; slot < SLOTS && first + slot < total; slot += BLOCK) {
                const u32 who = slots[slot] / 32, rank = slots[slot] % 32;
                body(u32(base + who), rank, starts[who] + rank);
            }
            __syncthreads();
        }
    }
}
