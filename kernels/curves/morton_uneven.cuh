// Morton order for powers of two that differ by axis: within a level, an axis whose bits are spent drops out. Twin of
// src/curve/morton.rs, `Uneven`.
#pragma once

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs& launch, u32, u64 position);

#include "curves/forest.cuh"

DEVICE constexpr u32 log2(u32 power) { return power <= 1 ? 0 : 1 + log2(power / 2); }

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs& launch, u32, u64 position) {
    Tuple<D> local;
    u32 place = 0, widest = 0;
#pragma unroll
    for (u32 j = 0; j < D; j++) {
        local[j] = 0;
        widest = log2(split(j)) > widest ? log2(split(j)) : widest;
    }
    // From the least significant bit of the position up: the deepest level first, the leading levels last.
#pragma unroll 1
    for (u32 level = 0; level < launch.level; level++) {
        for (u32 bit = 0; bit < widest; bit++) {
#pragma unroll
            for (u32 j = 0; j < D; j++) {
                if (bit < log2(split(j))) local[j] |= u32(position >> place++ & 1) << (level * log2(split(j)) + bit);
            }
        }
    }
#pragma unroll 1
    for (u32 leading = 0; leading < launch.leading; leading++) {
#pragma unroll
        for (u32 j = 0; j < D; j++) local[j] |= u32(position >> place++ & 1) << (launch.level * log2(split(j)) + leading);
    }
    return local;
}
