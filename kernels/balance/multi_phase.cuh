// Multi-phase mapping (Busato and Bombieri): as two-phase search, but ROUNDS times as many units per chunk, and what is found
// stays in registers until all is; then warps turn it round in memory of their own, so that neighbours do neighbouring units.
#pragma once

#include "balance/interpolation.cuh"
#include "balance/chunks.cuh"

DEVICE void balance(const BalanceArgs& args, Body& body) {
    __shared__ u32 starts[WINDOW + 1], turned[BLOCK * UNITS];
    const u64* prefix = prefix_of(args);
    for (u64 chunk = blockIdx.x; chunk < args.chunks; chunk += gridDim.x) {
        u32 found[ROUNDS * UNITS];
        by_windows(args, chunk, starts, [&](u32 first, u32 n, u32 end) {
#pragma unroll
            for (u32 round = 0; round < ROUNDS; round++) {
                const u32 mine = (round * BLOCK + threadIdx.x) * UNITS;
                const u32 begin = u32(most(mine, starts[0])), stop = u32(least(mine + UNITS, end));
                if (begin >= stop) continue;
                u32 i = owner(starts, n, begin);
#pragma unroll
                for (u32 x = 0; x < UNITS; x++) {
                    if (mine + x < begin || mine + x >= stop) continue;
                    while (starts[i + 1] <= mine + x) i++;
                    found[round * UNITS + x] = first + i;
                }
            }
        });
        u32* own = turned + warp() * 32 * UNITS;
#pragma unroll
        for (u32 round = 0; round < ROUNDS; round++) {
#pragma unroll
            for (u32 x = 0; x < UNITS; x++) own[lane() * UNITS + x] = found[round * UNITS + x];
            __syncwarp();
#pragma unroll
            for (u32 x = 0; x < UNITS; x++) {
                const u32 place = x * 32 + lane();
                const u64 unit = chunk * CHUNK + (round * BLOCK + warp() * 32) * UNITS + place;
                if (unit < args.units) body(own[place], u32(unit - prefix[own[place]]), unit);
            }
            __syncwarp();
        }
    }
}
