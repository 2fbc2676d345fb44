// Merge path: equal steps of the walk along which either a unit is done or an item is left behind, so that neither units nor
// empty items can pile up (Merrill and Garland, "Merge-based Parallel Sparse Matrix-Vector Multiplication", 2016).
#pragma once

// Items that are left behind before step `chunk * CHUNK`.
DEVICE u32 partition(const BalanceArgs& args, u64 chunk) {
    const u64* ends = prefix_of(args) + 1;
    const u64 step = least(chunk * CHUNK, args.items + args.units);
    u64 low = step > args.units ? step - args.units : 0, high = least(step, args.items);
    while (low < high) {
        const u64 middle = (low + high) / 2;
        if (ends[middle] < step - middle) low = middle + 1;
        else high = middle;
    }
    return u32(low);
}

DEVICE void balance(const BalanceArgs& args, Body& body) {
    // Ends of the chunk's items relative to its first unit, and the item of each of its units.
    __shared__ u32 ends[CHUNK + 1], found[CHUNK];
    const u64* prefix = prefix_of(args);
    const u32* parts = (const u32*)args.parts;
    for (u64 chunk = blockIdx.x; chunk < args.chunks; chunk += gridDim.x) {
        const u64 step = chunk * CHUNK, after = least(step + CHUNK, args.items + args.units);
        const u32 first = parts[chunk], n = parts[chunk + 1] - first;
        const u64 base = step - first;
        const u32 units = u32(after - step) - n;
        // The last of them may go on in the next chunk.
        for (u32 i = threadIdx.x; i <= n; i += BLOCK) {
            ends[i] = i < n ? u32(prefix[u64(first) + i + 1] - base) : CHUNK + 1;
        }
        __syncthreads();
        const u32 mine = u32(least(threadIdx.x * UNITS, units + n)), stop = u32(least(mine + UNITS, units + n));
        u32 low = mine > units ? mine - units : 0, high = u32(least(mine, n));
        while (low < high) {
            const u32 middle = (low + high) / 2;
            if (ends[middle] < mine - middle) low = middle + 1;
            else high = middle;
        }
        for (u32 i = low, unit = mine - low; i + unit < stop;) {
            if (unit < ends[i]) found[unit++] = first + i;
            else i++;
        }
        __syncthreads();
        for (u32 unit = threadIdx.x; unit < units; unit += BLOCK) {
            body(found[unit], u32(base + unit - prefix[found[unit]]), base + unit);
        }
        __syncthreads();
    }
}
