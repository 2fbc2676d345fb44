// Block search: a block does CHUNK items, equal units per thread, each of which searches the item of its first unit among
// those and walks on from there (Davidson et al., "Work-Efficient Parallel GPU Methods for Single-Source Shortest Paths", 2014).
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    __shared__ u64 starts[CHUNK + 1];
    const u64* prefix = prefix_of(args);
    for (u64 first = u64(blockIdx.x) * CHUNK; first < args.items; first += u64(gridDim.x) * CHUNK) {
        const u32 n = u32(least(CHUNK, args.items - first));
        for (u32 i = threadIdx.x; i <= n; i += BLOCK) starts[i] = prefix[first + i];
        __syncthreads();
        const u64 each = (starts[n] - starts[0] + BLOCK - 1) / BLOCK;
        u64 unit = starts[0] + threadIdx.x * each;
        const u64 end = least(unit + each, starts[n]);
        if (unit < end) {
            u32 i = owner(starts, n, unit);
            for (; unit < end; unit++) {
                while (starts[i + 1] <= unit) i++;
                body(u32(first + i), u32(unit - starts[i]), unit);
            }
        }
        __syncthreads();
    }
}
