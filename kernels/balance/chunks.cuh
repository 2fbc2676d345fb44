// Chunks of equal units: a first kernel finds the item in which each begins, blocks then search among the items of theirs.
#pragma once

// Items that a block looks at at a time. More are only needed where most are empty.
constexpr u32 WINDOW = 2048;

// The item of the first unit of a chunk; behind the last chunk, that of the last unit: nobody need look at empty items after it.
DEVICE u32 partition(const BalanceArgs& args, u64 chunk) {
    const u64 unit = least(chunk * CHUNK, args.units - 1);
#if INTERPOLATE
    return owner_by_interpolation(prefix_of(args), args.items, args.units, unit);
#else
    return owner(prefix_of(args), args.items, unit);
#endif
}

// Starts of the items from `first` on, relative to the chunk's first unit: of those before it 0, and of those behind it CHUNK.
// One more entry than items.
DEVICE void load_window(const BalanceArgs& args, u64 chunk, u32 first, u32 n, u32* starts) {
    const u64* prefix = prefix_of(args);
    const u64 base = chunk * CHUNK;
    for (u32 i = threadIdx.x; i <= n; i += BLOCK) {
        const u64 start = prefix[u64(first) + i];
        starts[i] = start <= base ? 0 : u32(least(start - base, CHUNK));
    }
}

// What a block does of a chunk: from the item `first` to `last`, `n` at a time, `at_items(first, n, end)` with the chunk's units
// before `end` known by then.
template <class Items> DEVICE void by_windows(const BalanceArgs& args, u64 chunk, u32* starts, const Items& items) {
    const u32* parts = (const u32*)args.parts;
    const u32 units = u32(least(CHUNK, args.units - chunk * CHUNK));
    const u32 last = parts[chunk + 1];
    for (u64 first = parts[chunk]; first <= last; first += WINDOW) {
        const u32 n = u32(least(WINDOW, last - first + 1));
        load_window(args, chunk, u32(first), n, starts);
        __syncthreads();
        items(u32(first), n, u32(least(starts[n], units)));
        __syncthreads();
    }
}
