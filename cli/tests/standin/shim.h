// CUDA on a CPU, as far as the kernels need it. Every kernel is compiled with this header: so it has no more than they call, and
// what runs them is in grid.h, in the library of the driver, with which they are linked.
#pragma once

#include <stddef.h>
#include <stdint.h>

// What kernels call of math.h. With that header a kernel takes a tenth longer to compile, since it brings all of <cmath>.
extern "C" {
float fabsf(float), floorf(float), fmaxf(float, float);
double fabs(double), floor(double), ceil(double), fmax(double, double);
}

#define __device__
#define __forceinline__ inline
#define __shared__ static thread_local
#define __noinline__ __attribute__((noinline))

namespace standin {

struct Index {
    unsigned x = 0, y = 0, z = 0;
};

// Blocks per axis.
struct Grid {
    unsigned x, y, z;
    Grid(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

using Kernel = void (*)(void** arguments);

// A kernel's arguments, by value.
struct Arguments {
    static constexpr size_t MOST = 32;
    alignas(16) char bytes[3][MOST];
};

// The lane that runs waits for all threads of its block, and hears whether one of them gave `true`.
bool meet_block(bool value);
// It waits for the lanes of its warp.
void meet_warp();
// Every lane's value, once all lanes of the warp have given theirs.
const uint64_t* exchange(uint64_t value);
// A bit of every lane, likewise.
unsigned ballot(bool value);
// Launches a grid after the one that runs, or, as a tail, when nothing else is left. 0, or the error.
unsigned launch(bool tail, Kernel kernel, Grid grid, const Arguments& arguments);

template <class A, class B, class C> unsigned launch_with(bool tail, Kernel kernel, Grid grid, A a, B b, C c) {
    static_assert(sizeof a <= Arguments::MOST && sizeof b <= Arguments::MOST && sizeof c <= Arguments::MOST, "arguments are small");
    Arguments arguments;
    __builtin_memcpy(arguments.bytes[0], &a, sizeof a);
    __builtin_memcpy(arguments.bytes[1], &b, sizeof b);
    __builtin_memcpy(arguments.bytes[2], &c, sizeof c);
    return launch(tail, kernel, grid, arguments);
}

} // namespace standin

// One per operating-system thread, in static storage of threads, so that a kernel reads it without a call.
#define FAST_THREAD __attribute__((tls_model("initial-exec"))) __thread
extern FAST_THREAD standin::Index threadIdx, blockIdx, blockDim, gridDim;

inline void __syncthreads() { standin::meet_block(false); }
inline bool __syncthreads_or(bool value) { return standin::meet_block(value); }

// Lanes run one after the other: each is alone, and one that is alone waits for nobody.
inline unsigned __activemask() { return 1u << (threadIdx.x % 32); }

inline void __syncwarp(unsigned lanes = 0xffffffffu) {
    if ((lanes & (lanes - 1)) != 0) standin::meet_warp();
}

template <class T> T __shfl_sync(unsigned, T value, unsigned from) { return T(standin::exchange(value)[from % 32]); }
template <class T> T __shfl_up_sync(unsigned, T value, unsigned distance) {
    const unsigned me = threadIdx.x % 32;
    return T(standin::exchange(value)[me >= distance ? me - distance : me]);
}
template <class T> T __shfl_xor_sync(unsigned, T value, unsigned mask) {
    const unsigned me = threadIdx.x % 32;
    return T(standin::exchange(value)[me ^ mask]);
}
inline unsigned __ballot_sync(unsigned, bool value) { return standin::ballot(value); }
inline bool __any_sync(unsigned mask, bool value) { return __ballot_sync(mask, value) != 0; }

template <class T> T atomicAdd(T* at, T value) { return __atomic_fetch_add(at, value, __ATOMIC_RELAXED); }

inline unsigned atomicExch(unsigned* at, unsigned value) { return __atomic_exchange_n(at, value, __ATOMIC_RELAXED); }
inline unsigned atomicCAS(unsigned* at, unsigned expected, unsigned value) {
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return expected;
}
inline unsigned atomicMax(unsigned* at, unsigned value) {
    unsigned before = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (before < value && !__atomic_compare_exchange_n(at, &before, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
    return before;
}

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(unsigned x) { return x == 0 ? 32 : __builtin_clz(x); }
inline int __clzll(unsigned long long x) { return x == 0 ? 64 : __builtin_clzll(x); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
    const unsigned long long bytes = (unsigned long long)y << 32 | x;
    unsigned picked = 0;
    for (int i = 0; i < 4; i++) picked |= unsigned(bytes >> (8 * (selector >> (4 * i) & 7)) & 0xff) << (8 * i);
    return picked;
}
inline int __ffs(unsigned x) { return __builtin_ffs(int(x)); }
inline int __ffsll(unsigned long long x) { return __builtin_ffsll((long long)x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline void __threadfence() { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
inline unsigned long long __brevll(unsigned long long x) {
    unsigned long long y = 0;
    for (int i = 0; i < 64; i++) y |= (x >> i & 1) << (63 - i);
    return y;
}
inline unsigned __brev(unsigned x) { return unsigned(__brevll(x) >> 32); }

inline unsigned __float_as_uint(float x) {
    unsigned bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline long long __double_as_longlong(double x) {
    long long bits;
    __builtin_memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline float __fmaf_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
inline double __fma_rn(double a, double b, double c) { return __builtin_fma(a, b, c); }
inline float __fmul_rn(float a, float b) { return a * b; }
inline double __dmul_rn(double a, double b) { return a * b; }
inline float __fadd_rn(float a, float b) { return a + b; }
inline double __dadd_rn(double a, double b) { return a + b; }
inline float __fsqrt_rn(float a) { return __builtin_sqrtf(a); }
inline double __dsqrt_rn(double a) { return __builtin_sqrt(a); }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline double __ddiv_rn(double a, double b) { return a / b; }

inline float __uint_as_float(unsigned bits) {
    float x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

inline double __longlong_as_double(long long bits) {
    double x;
    __builtin_memcpy(&x, &bits, sizeof x);
    return x;
}

// What the hardware is within a unit in the last place of (kernels/unchecked.cuh), correctly rounded.
#define SEEDS
inline float reciprocal_seed(float a) { return 1 / a; }
inline float inverse_root_seed(float a) { return float(1 / __builtin_sqrt(double(a))); }

#define KERNEL(name, Launch)                                                                                           \
    static void name(const RunArgs& run, const Launch& launch, const FieldArgs& args);                                \
    extern "C" void name##_standin(void** arguments) {                                                                 \
        name(*(const RunArgs*)arguments[0], *(const Launch*)arguments[1], *(const FieldArgs*)arguments[2]);            \
    }                                                                                                                  \
    static void name(const RunArgs& run, const Launch& launch, const FieldArgs& args)
#define KERNEL_OF(threads, name, Launch) KERNEL(name, Launch)

#define ENTRY_AHEAD(name, A, B, C) extern "C" void name##_standin(void** arguments)
#define ENTRY(name, A, a, B, b, C, c)                                                                                  \
    static void name(A a, B b, C c);                                                                                   \
    extern "C" void name##_standin(void** arguments) {                                                                 \
        name(*(A*)arguments[0], *(B*)arguments[1], *(C*)arguments[2]);                                                 \
    }                                                                                                                  \
    static void name(A a, B b, C c)
using GridShape = standin::Grid;
#define DEV_LAUNCH(kernel, grid, ...) standin::launch_with(false, &kernel##_standin, grid, __VA_ARGS__)
#define DEV_TAIL_LAUNCH(kernel, grid, ...) standin::launch_with(true, &kernel##_standin, grid, __VA_ARGS__)
