// Are the sums right, and was every unit visited as often as it should have been, by its item and in its place?
#pragma once

// A warp per item, which shares nothing with any balancer. `runs` is how often all units were visited.
DEVICE void check_items(const BalanceArgs& args, u64 runs) {
    const u64* prefix = prefix_of(args);
    const u32* sizes = (const u32*)args.sizes;
    const u32* cells = (const u32*)args.cells;
    u64 mistakes = 0;
    for (u64 item = thread() / 32; item < args.items; item += threads() / 32) {
        const u64 start = prefix[item];
        const u32 size = sizes[item];
        if (lane() == 0 && (prefix[item + 1] != start + size || (item == 0 && start != 0))) mistakes++;
        // Wrong sums may lead anywhere.
        if (start + size > args.units) continue;
        for (u64 rank = lane(); rank < size; rank += 32) mistakes += cells[start + rank] != u32(runs) * mark(u32(item), u32(rank));
    }
    // Nobody wrote behind the last unit.
    if (thread() < BALANCE_GUARD) mistakes += cells[args.units + thread()] != 0;
    if (mistakes != 0) atomicAdd((u64*)args.mistakes, mistakes);
}
