// The ground of every source: integer names, how a kernel is declared, and who a thread is. No toolkit header is included
// anywhere; what a specialisation fixes (types, block shape, constants, structs) comes first, in generated.cuh.
#pragma once

typedef unsigned char u8;
typedef unsigned short u16;
typedef signed char i8;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef unsigned int u32;
typedef unsigned long long u64;

#define DEVICE __device__ __forceinline__

#include "generated.cuh"

// A kernel takes three values, and may be declared ahead. A launch from the device goes
// off at once and returns an error code, 0 for none.
#ifndef ENTRY
using GridShape = dim3;
#define ENTRY_AHEAD(name, A, B, C) extern "C" __global__ void __launch_bounds__(BLOCK) name(A, B, C)
#define ENTRY(name, A, a, B, b, C, c) extern "C" __global__ void __launch_bounds__(BLOCK) name(A a, B b, C c)
#define DEV_LAUNCH(kernel, grid, ...)                                                                                  \
    (kernel<<<grid, BLOCK, 0, cudaStreamFireAndForget>>>(__VA_ARGS__), u32(cudaGetLastError()))
// The same for a grid that starts when the launching one, and all that it launched, are done.
#define DEV_TAIL_LAUNCH(kernel, grid, ...)                                                                             \
    (kernel<<<grid, BLOCK, 0, cudaStreamTailLaunch>>>(__VA_ARGS__), u32(cudaGetLastError()))
#endif

DEVICE u32 lane() { return threadIdx.x % 32; }
DEVICE u32 warp() { return threadIdx.x / 32; }
constexpr u32 WARPS = BLOCK / 32;

// The most threads that share a region: a block's, unless a source launches wider ones of a kernel whose blocks prove.
#ifndef TEAM
#define TEAM BLOCK
#endif
DEVICE u32 sharers() { return TEAM == BLOCK ? BLOCK : blockDim.x; }

// For a of at least 1.
DEVICE u32 ceil_div(u32 a, u32 b) { return (a - 1) / b + 1; }
