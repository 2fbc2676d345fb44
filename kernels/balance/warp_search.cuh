// Local warp search: a warp does 32 items, a unit per lane, and searches each unit's item among those, lane to lane.
#pragma once

DEVICE void balance(const BalanceArgs& args, Body& body) {
    const u64* prefix = prefix_of(args);
    for (u64 first = thread() / 32 * 32; first < args.items; first += threads()) {
        const u32 n = u32(least(32, args.items - first));
        const u64 start = prefix[first + least(lane(), n)], end = prefix[first + n];
        for (u64 base = __shfl_sync(ALL_LANES, start, 0); base < end; base += 32) {
            const u64 unit = base + lane();
            u32 i = 0;
#pragma unroll
            for (u32 step = 16; step > 0; step /= 2) {
                const u64 other = __shfl_sync(ALL_LANES, start, (i + step) % 32);
                if (i + step < n && other <= unit) i += step;
            }
            const u64 own = __shfl_sync(ALL_LANES, start, i);
            if (unit < end) body(u32(first + i), u32(unit - own), unit);
        }
    }
}
