// Direct search: a thread per unit, which searches its item among all.
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    const u64* prefix = prefix_of(args);
    for (u64 unit = thread(); unit < args.units; unit += threads()) {
        const u32 item = owner(prefix, args.items, unit);
        body(item, u32(unit - prefix[item]), unit);
    }
}
