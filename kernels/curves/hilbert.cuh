// The Hilbert curve of Butz and Hamilton. Twin of src/curve/hilbert.rs.
//
// The closed form, level by level: a few integer operations, where the CPU's tables would be loads. A tree's start state
// comes from the host, so that the curve runs on from tree to tree.
#pragma once

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs& launch, u32 tree, u64 position);

#include "curves/forest.cuh"

template <u32 D> DEVICE u32 rotate_left(u32 x, u32 by) {
    by = by >= D ? by - D : by;
    return (x << by | x >> (D - by)) & ((1u << D) - 1);
}

DEVICE u32 gray(u32 w) { return w ^ w >> 1; }

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs& launch, u32 tree, u64 position) {
    const u32 levels = launch.sides[0];
    const u32 start = ((const u16*)launch.starts)[tree];
    const u32 half = start & ((1u << (D - 1)) - 1);
    u32 e = half << 1 | (__popc(half) & 1), d = start >> (D - 1);
    u64 cells = 0;
#pragma unroll 1
    for (u32 i = 0; i < levels; i++) {
        const u32 rank = u32(position >> ((levels - 1 - i) * D)) & ((1u << D) - 1);
        cells = cells << D | (rotate_left<D>(gray(rank), d + 1) ^ e);
        // The state of the child of `rank`.
        const u32 entry = rank == 0 ? 0 : gray((rank - 1) & ~1u);
        const u32 ones = rank % 2 == 0 ? rank - 1 : rank;
        const u32 travel = rank == 0 ? 0 : __ffs(~ones) - 1;
        e ^= rotate_left<D>(entry, d + 1);
        d += travel + 1;
        while (d >= D) d -= D;
    }
    return deinterleave<D>(cells);
}
