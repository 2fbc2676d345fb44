// Reciprocals and square roots of floats, correctly rounded like `quotient` and `root`, without the checks of range that
// those begin with: a seed of the hardware's, and Newton's step.
//
// That they are correctly rounded holds for the floats from 2^-100 up to 8, each of which is tried
// (tests/device/unchecked.cuh). Beyond them they are about right, or no number.
#pragma once

// Within a unit in the last place or so. The stand-in for a GPU brings its own.
#ifndef SEEDS
DEVICE float reciprocal_seed(float a) {
    float seed;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(seed) : "f"(a));
    return seed;
}
DEVICE float inverse_root_seed(float a) {
    float seed;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(seed) : "f"(a));
    return seed;
}
#endif

DEVICE float unchecked_reciprocal(float a) {
    const float seed = reciprocal_seed(a);
    return fma_once(seed, fma_once(-a, seed, 1.0f), seed);
}
DEVICE float unchecked_root(float a) {
    const float seed = inverse_root_seed(a);
    const float close = mul(a, seed), half = mul(seed, 0.5f);
    return fma_once(fma_once(-close, close, a), half, close);
}

// The seeds of doubles would need more steps than checks cost.
DEVICE double unchecked_reciprocal(double a) { return quotient(1.0, a); }
DEVICE double unchecked_root(double a) { return root(a); }
