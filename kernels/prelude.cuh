// What the kernels of a run stand on: how they are declared, coordinates, rounding.
#pragma once

#include "ground.cuh"

// Every kernel takes three structs: what the run is, what this launch is (the strategy's `Launch`), what the field needs.
#ifndef KERNEL
#define KERNEL_OF(threads, name, Launch)                                                                               \
    extern "C" __global__ void __launch_bounds__(threads)                                                              \
        name(const __grid_constant__ RunArgs run, const __grid_constant__ Launch launch,                               \
             const __grid_constant__ FieldArgs args)
#define KERNEL(name, Launch) KERNEL_OF(BLOCK, name, Launch)
#endif

// Coordinates on D axes; axis 0 is x, the fastest.
template <u32 D> struct Tuple {
    u32 c[D];
    DEVICE u32& operator[](u32 j) { return c[j]; }
    DEVICE u32 operator[](u32 j) const { return c[j]; }
};
using Coords = Tuple<DIM>;
// The lanes that evaluate labels together: those of a whole warp, unless a source says otherwise.
#ifndef LABEL_LANES
#define LABEL_LANES 0xffffffffu
#endif

// What a table holds per family: a scalar, or coordinates to compare with.
using Code = CODE;

// What a field can say of a whole region.
enum Verdict : u32 { UNKNOWN, UNIFORM, MIXED };

// Products and sums, rounded as the run says: once together (fused), or each for itself (plain). Never left to the
// compiler, so that labels equal the CPU's to the bit.
DEVICE float fma_once(float a, float b, float c) { return __fmaf_rn(a, b, c); }
DEVICE double fma_once(double a, double b, double c) { return __fma_rn(a, b, c); }
DEVICE float mul(float a, float b) { return __fmul_rn(a, b); }
DEVICE double mul(double a, double b) { return __dmul_rn(a, b); }
DEVICE float add(float a, float b) { return __fadd_rn(a, b); }
DEVICE double add(double a, double b) { return __dadd_rn(a, b); }
DEVICE float root(float a) { return __fsqrt_rn(a); }
DEVICE double root(double a) { return __dsqrt_rn(a); }
DEVICE float quotient(float a, float b) { return __fdiv_rn(a, b); }
DEVICE double quotient(double a, double b) { return __ddiv_rn(a, b); }

// a·b + c, fused or not.
template <bool F, class T> DEVICE T mul_add_as(T a, T b, T c) { return F ? fma_once(a, b, c) : add(mul(a, b), c); }
// a·b + c
DEVICE Real mul_add(Real a, Real b, Real c) { return mul_add_as<FUSED>(a, b, c); }
// a·b − c
DEVICE Real mul_sub(Real a, Real b, Real c) { return FUSED ? fma_once(a, b, -c) : add(mul(a, b), -c); }
// a² − b² + c, the real part of a complex square plus c
DEVICE Real square_sub_add(Real a, Real b, Real c) {
    return FUSED ? fma_once(a, a, fma_once(-b, b, c)) : add(add(mul(a, a), -mul(b, b)), c);
}
