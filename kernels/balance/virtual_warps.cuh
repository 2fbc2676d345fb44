// Virtual warps: so many threads per item.
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    const u64* prefix = prefix_of(args);
    for (u64 item = thread() / VIRTUAL_WARP; item < args.items; item += threads() / VIRTUAL_WARP) {
        const u64 start = prefix[item], end = prefix[item + 1];
        for (u64 unit = start + thread() % VIRTUAL_WARP; unit < end; unit += VIRTUAL_WARP) {
            body(u32(item), u32(unit - start), unit);
        }
    }
}
