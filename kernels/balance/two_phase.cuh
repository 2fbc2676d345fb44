// Two-phase search: equal units per block and per thread, each of which searches among the items of its block's chunk and walks
// on from there.
#pragma once

#include "balance/chunks.cuh"

DEVICE void balance(const BalanceArgs& args, Body& body) {
    __shared__ u32 starts[WINDOW + 1];
    const u64* prefix = prefix_of(args);
    for (u64 chunk = blockIdx.x; chunk < args.chunks; chunk += gridDim.x) {
        by_windows(args, chunk, starts, [&](u32 first, u32 n, u32 end) {
            const u32 mine = threadIdx.x * UNITS, stop = u32(least(mine + UNITS, end));
            u32 unit = u32(most(mine, starts[0]));
            if (unit >= stop) return;
            u32 i = owner(starts, n, unit);
            for (; unit < stop; unit++) {
                while (starts[i + 1] <= unit) i++;
                const u64 whole = chunk * CHUNK + unit;
                body(first + i, u32(whole - prefix[first + i]), whole);
            }
        });
    }
}
