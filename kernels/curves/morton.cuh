// Morton order: interleaved bits where r is one power of two. Twin of src/curve/morton.rs, `Interleaved`.
#pragma once

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs&, u32, u64 position);

#include "curves/forest.cuh"

template <u32 D> DEVICE Tuple<D> within(const LaunchArgs&, u32, u64 position) { return deinterleave<D>(position); }
