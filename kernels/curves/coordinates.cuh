// No curve: a table of k coordinates per family, to compare the scalar codes with. Its order is the row-major one.
#pragma once

DEVICE Entry curve_entry(const LaunchArgs&, const Code& code) { return {code, code}; }

DEVICE Entry curve_root(const LaunchArgs& launch, u64 index) {
    Entry entry;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        entry.coords[j] = u32(index % launch.grid[j]);
        index /= launch.grid[j];
    }
    entry.code = entry.coords;
    return entry;
}

DEVICE Entry curve_child(const LaunchArgs&, const Code& parent, u32 child) {
    Entry entry;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        entry.coords[j] = parent[j] * split(j) + child % split(j);
        child /= split(j);
    }
    entry.code = entry.coords;
    return entry;
}
