// `owner` by interpolation: where sizes are much alike, a unit's item is about where a straight line says.
#pragma once

DEVICE u32 owner_by_interpolation(const u64* starts, u32 n, u64 units, u64 unit) {
    // starts[low] <= unit < starts[high]; the sum of all stands behind the last item.
    u32 low = 0, high = n;
    u64 below = 0, above = units;
    for (u32 probe = 0; high - low > 1; probe++) {
        u32 middle = low + (high - low) / 2;
        // Guesses that do not end are halved instead.
        if (probe < 16) {
            const u32 guess = low + u32((unit - below) * (high - low) / (above - below));
            middle = guess <= low ? low + 1 : guess >= high ? high - 1 : guess;
        }
        if (starts[middle] <= unit) low = middle, below = starts[middle];
        else high = middle, above = starts[middle];
    }
    return low;
}
