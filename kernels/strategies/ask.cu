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
#include "emit.cuh"
#include "listed.cuh"

// What ASK does with a verdict: a mixed region enters the next table, a terminal one the level's lists if others settle it.
struct AskLead {
    static constexpr bool LAUNCHES = false;
    const AskArgs& launch;
    u32 index;
    Code code;

    DEVICE u32 slot(u32 counter) const { return atomicAdd((u32*)launch.counters + counter, 1u); }
    DEVICE void divide() const {
        const u32 next = slot(COUNTER_MIXED);
        if (!launch.stable) ((Code*)launch.next)[next] = code;
    }
    DEVICE void terminal(const Outcome& outcome, u32 what) const {
        if (what != SETTLE_LISTED) return;
        if (outcome.mixed) ((u32*)launch.leaves)[slot(COUNTER_LEAVES)] = index;
        else ((u32*)launch.fills)[slot(COUNTER_FILLS)] = index;
    }
};

// Blocks of a launch follow each other, `pieces` for a region or a leaf. Where grids are native they are a box, which lie one behind the
// other along axis 2 (src/cuda/native.rs).
DEVICE u64 block_number(const AskArgs& launch) {
#if NATIVE_GRIDS
    const u32 z = blockIdx.z % launch.blocks[2];
    const u64 entry = launch.first + blockIdx.z / launch.blocks[2];
    return entry * launch.pieces + (z * launch.blocks[1] + blockIdx.y) * launch.blocks[0] + blockIdx.x;
#else
    return launch.first + blockIdx.x;
#endif
}

// A block explores its region and, unless others are to do it, settles it if it is terminal. Under MBR in place `pieces` blocks
// share that, and each explores for itself; the first of them counts.
KERNEL(ask_explore, AskArgs) {
    Listener listener(run.stop);
    const u64 block = block_number(launch);
    const u32 index = launch.pieces == 1 ? u32(block) : u32(block / launch.pieces);
    const Share share{launch.pieces == 1 ? 0 : u32(block % launch.pieces), launch.pieces};
    const Entry entry = olt_read(launch, index);
    const Region region = region_at(run, launch, entry.coords);
    Tally explored;
    const Outcome outcome = explore(run, args, region, listener, explored);
    if (share.piece == 0) settle_tally(launch.tallies, explored, TALLY_EXPLORED);
    if (threadIdx.x == 0 && share.piece == 0) {
        if (launch.mixed != 0) ((u8*)launch.mixed)[index] = outcome.mixed;
        if (launch.values != 0) ((Value*)launch.values)[index] = outcome.value;
    }
    emit(run, args, launch, region, outcome, share, listener, AskLead{launch, index, entry.code});
}

// `pieces` blocks evaluate a leaf into its brick.
KERNEL(ask_leaf, AskArgs) {
    Listener listener(run.stop);
    const Listed mine = listed_in(launch, block_number(launch));
    const Region region = region_at(run, launch, olt_read(launch, mine.number()).coords);
    CellValue* brick = (CellValue*)launch.bricks + mine.entry * launch.brick_cells;
    settle(run, args, launch, region, true, 0, brick, mine.share, listener);
}

// Makes items for a balancer of what levels listed, or one did: a thread each.
KERNEL(ask_items, AskArgs) {
    const u64 item = (launch.first + blockIdx.x) * BLOCK + threadIdx.x;
    if (item >= launch.listed) return;
    const Listed mine = launch.parts == 0 ? listed_in(launch, item) : listed((const ExploreArgs*)launch.parts, item);
    const u32 index = mine.number();
    put_item(run, mine.part, item, region_at(run, mine.part, olt_read(mine.part, index).coords), ((const Value*)mine.part.values)[index]);
}

// Stable insertion, first pass: how many of a piece's regions are mixed. A piece is `pieces` rounds of the block's threads.
KERNEL(ask_rank, AskArgs) {
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
KERNEL(ask_place, AskArgs) {
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
