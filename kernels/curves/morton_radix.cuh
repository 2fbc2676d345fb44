// Morton order for any r: the z-order of base-r digits. Twin of src/curve/morton.rs, `MixedRadix`.
#pragma once

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs& launch, u32, u64 position);

#include "curves/forest.cuh"

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs& launch, u32, u64 position) {
    Tuple<D> local, weight;
#pragma unroll
    for (u32 j = 0; j < D; j++) {
        local[j] = 0;
        weight[j] = 1;
    }
#pragma unroll 1
    for (u32 level = 0; level < launch.level; level++) {
#pragma unroll
        for (u32 j = 0; j < D; j++) {
            local[j] += u32(position % split(j)) * weight[j];
            position /= split(j);
            weight[j] *= split(j);
        }
    }
    return local;
}
