// Work-items to threads: a thread per item.
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    const u64* prefix = prefix_of(args);
    for (u64 item = thread(); item < args.items; item += threads()) {
        const u64 start = prefix[item], end = prefix[item + 1];
        for (u64 unit = start; unit < end; unit++) body(u32(item), u32(unit - start), unit);
    }
}
