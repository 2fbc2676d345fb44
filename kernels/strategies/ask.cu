// Adaptive Serial Kernels: one kernel per level over the OLT (ASK paper, §5), and what MBR adds to it.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

#include "explore.cuh"
#include "walk.cuh"
#include "settle.cuh"

// A block explores its region and, unless others are to do it, fills or evaluates it (SBR); a mixed region that can be
// divided enters the next table.
KERNEL(ask_explore) {
    const u32 index = u32(launch.first) + blockIdx.x;
    const Entry entry = olt_read(launch, index);
    const Region region = region_at(run, launch, entry.coords);
    Tally explored;
    const Outcome outcome = explore(run, args, region, explored);
    settle_tally(launch, explored, TALLY_EXPLORED);
    const bool mixed = outcome.mixed;
    if (threadIdx.x == 0) {
        if (launch.mixed != 0) ((u8*)launch.mixed)[index] = mixed;
        if (launch.values != 0) ((Value*)launch.values)[index] = outcome.value;
        u32* counters = (u32*)launch.counters;
        if (mixed && !launch.last) {
            const u32 slot = atomicAdd(counters + COUNTER_MIXED, 1u);
            if (!launch.stable) ((Code*)launch.next)[slot] = entry.code;
        } else {
            count(launch, mixed ? TALLY_LEAVES : TALLY_FILLED, 1);
            count(launch, mixed ? TALLY_LEAF_CELLS : TALLY_FILLED_CELLS, region.volume());
            const bool listed = (mixed ? launch.leaf : launch.fill) == SETTLE_LISTED;
            if (listed && mixed) ((u32*)launch.leaves)[atomicAdd(counters + COUNTER_LEAVES, 1u)] = index;
            if (listed && !mixed) ((u32*)launch.fills)[atomicAdd(counters + COUNTER_FILLS, 1u)] = index;
        }
    }
    if (!mixed && launch.fill == SETTLE_IN_PLACE) fill(run, region, outcome.value, 0, 1);
    if (mixed && launch.last && launch.leaf == SETTLE_IN_PLACE) {
        Tally evaluated;
        evaluate(run, args, region, nullptr, 0, 1, evaluated);
        settle_tally(launch, evaluated, TALLY_EVALUATED);
    }
}

// MBR: `pieces` blocks fill a uniform region.
KERNEL(ask_fill) {
    const u64 block = launch.first + blockIdx.x;
    const u32 index = ((const u32*)launch.fills)[block / launch.pieces];
    const Region region = region_at(run, launch, olt_read(launch, index).coords);
    fill(run, region, ((const Value*)launch.values)[index], block % launch.pieces, launch.pieces);
}

// MBR: `pieces` blocks evaluate a leaf, into the dense array or into its brick.
KERNEL(ask_leaf) {
    const u64 block = launch.first + blockIdx.x;
    const u64 item = block / launch.pieces;
    const Region region = region_at(run, launch, olt_read(launch, ((const u32*)launch.leaves)[item]).coords);
    CellValue* brick = launch.bricks == 0 ? nullptr : (CellValue*)launch.bricks + item * launch.brick_cells;
    Tally evaluated;
    evaluate(run, args, region, brick, block % launch.pieces, launch.pieces, evaluated);
    settle_tally(launch, evaluated, TALLY_EVALUATED);
}

// Stable insertion, first pass: how many of a piece's regions are mixed. A piece is `pieces` rounds of the block's threads.
KERNEL(ask_rank) {
    const u64 piece = launch.first + blockIdx.x;
    u32 mixed = 0;
    for (u32 i = 0; i < launch.pieces; i++) {
        const u64 index = (piece * launch.pieces + i) * BLOCK + threadIdx.x;
        mixed += index < launch.regions && ((const u8*)launch.mixed)[index] != 0;
    }
    const u64 sum = warp_sum(mixed);
    if (lane() == 0 && sum > 0) atomicAdd((u32*)launch.ranks + piece, u32(sum));
}

// Stable insertion, second pass: a mixed region's slot is the number of mixed regions before it. There are few pieces, so
// each block adds up those before its own.
KERNEL(ask_place) {
    __shared__ u32 before[WARPS];
    const u64 piece = launch.first + blockIdx.x;
    const u32* ranks = (const u32*)launch.ranks;
    u32 base = 0;
    for (u64 i = threadIdx.x; i < piece; i += BLOCK) base += ranks[i];
    base = u32(warp_sum(base));
    if (lane() == 0) before[warp()] = base;
    __syncthreads();
    base = 0;
    for (u32 w = 0; w < WARPS; w++) base += before[w];
    for (u32 i = 0; i < launch.pieces; i++) {
        const u64 index = (piece * launch.pieces + i) * BLOCK + threadIdx.x;
        const bool mixed = index < launch.regions && ((const u8*)launch.mixed)[index] != 0;
        const u32 votes = __ballot_sync(0xffffffffu, mixed);
        __syncthreads();
        if (lane() == 0) before[warp()] = __popc(votes);
        __syncthreads();
        u32 slot = base + __popc(votes & ((1u << lane()) - 1));
        for (u32 w = 0; w < WARPS; w++) {
            if (w < warp()) slot += before[w];
            base += before[w];
        }
        if (mixed) ((Code*)launch.next)[slot] = olt_read(launch, u32(index)).code;
    }
}
