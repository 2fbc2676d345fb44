// Dynamic virtual warps and dynamic parallelism: virtual warps for items up to a threshold, and a grid launched from the
// device for each that is larger.
//
// A launch takes a credit per block, which the block gives back when it is done: more launches than the driver keeps pending
// would fail. An item that finds no credit, or whose launch fails, is listed, and the blocks of `sweep` do it afterwards.
#pragma once

// Units per thread of a launched grid, and its most blocks.
constexpr u32 GIANT_UNITS = 8, GIANT_BLOCKS = 64;

DEVICE u32* counter(const BalanceArgs& args, u32 which) { return (u32*)args.counters + which; }

ENTRY_AHEAD(giant, u64, u64, u64);

// Its units, by all threads of the grid or of the block, of which this is number `me` of `all`.
DEVICE void whole_item(const BalanceArgs& args, u32 item, u64 me, u64 all) {
    Body body(args);
    const u64 start = prefix_of(args)[item], end = prefix_of(args)[item + 1];
    for (u64 unit = start + me; unit < end; unit += all) body(item, u32(unit - start), unit);
    body.end();
}

ENTRY(giant, u64, itself, u64, item, u64, unused) {
    const BalanceArgs& args = *(const BalanceArgs*)itself;
    whole_item(args, u32(item), thread(), threads());
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(counter(args, BALANCE_IN_FLIGHT), 0u - 1u);
}

ENTRY(sweep, BalanceArgs, args, u64, unused, u64, neither) {
    const u32 listed = *counter(args, BALANCE_OVERFLOW);
    for (u32 i = blockIdx.x; i < listed; i += gridDim.x) whole_item(args, ((const u32*)args.overflow)[i], threadIdx.x, BLOCK);
}

// One thread of those that share the item.
DEVICE void hand_on(const BalanceArgs& args, u32 item, u64 units) {
    const u32 blocks = u32(least(GIANT_BLOCKS, (units - 1) / (BLOCK * GIANT_UNITS) + 1));
    if (atomicAdd(counter(args, BALANCE_IN_FLIGHT), blocks) + blocks <= CREDITS) {
        if (DEV_LAUNCH(giant, blocks, args.itself, u64(item), 0ull) == 0) return;
    }
    atomicAdd(counter(args, BALANCE_IN_FLIGHT), 0u - blocks);
    ((u32*)args.overflow)[atomicAdd(counter(args, BALANCE_OVERFLOW), 1u)] = item;
}

DEVICE void balance(const BalanceArgs& args, Body& body) {
    const u64* prefix = prefix_of(args);
    const u32 me = u32(thread() % VIRTUAL_WARP);
    for (u64 item = thread() / VIRTUAL_WARP; item < args.items; item += threads() / VIRTUAL_WARP) {
        const u64 start = prefix[item], end = prefix[item + 1];
        if (end - start > THRESHOLD) {
            if (me == 0) hand_on(args, u32(item), end - start);
        } else {
            for (u64 unit = start + me; unit < end; unit += VIRTUAL_WARP) body(u32(item), u32(unit - start), unit);
        }
    }
}
