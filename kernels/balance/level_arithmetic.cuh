// Level arithmetic: of few classes of items that lie together and are of one size each, as the levels of a regular subdivision,
// a unit's item needs no search.
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    for (u64 unit = thread(); unit < args.units; unit += threads()) {
        u32 which = 0;
        while (which + 1 < args.classes && args.class_units[which + 1] <= unit) which++;
        const u64 place = unit - args.class_units[which];
        const u32 size = args.class_size[which];
        // A division by a power of two is a shift, and others are short where they can be.
        u64 item;
        u32 rank;
        if ((size & (size - 1)) == 0) {
            item = place >> (31 - __clz(int(size))), rank = u32(place) & (size - 1);
        } else if (place >> 32 == 0) {
            item = u32(place) / size, rank = u32(place) % size;
        } else {
            item = place / size, rank = u32(place % size);
        }
        body(u32(args.class_items[which] + item), rank, unit);
    }
}
