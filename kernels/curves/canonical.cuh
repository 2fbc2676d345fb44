// The flat canonical order: row-major over a lattice, axis 0 fastest (ASK paper, eqs. 31-33). Twin of
// src/curve/canonical.rs.
#pragma once

template <u32 D> DEVICE Tuple<D> row_major(const u32* grid, Code code) {
    Tuple<D> coords;
#pragma unroll
    for (u32 j = 0; j + 1 < D; j++) {
        coords[j] = u32(code % grid[j]);
        code /= grid[j];
    }
    coords[D - 1] = u32(code);
    return coords;
}

template <u32 D> DEVICE Tuple<D> curve_decode(const LaunchArgs& launch, Code code) { return row_major<D>(launch.grid, code); }

DEVICE Coords curve_coords(const LaunchArgs& launch, Code code) { return curve_decode<DIM>(launch, code); }

DEVICE Entry curve_entry(const LaunchArgs& launch, Code code) { return {code, curve_decode<DIM>(launch, code)}; }

DEVICE Entry curve_root(const LaunchArgs& launch, u64 index) { return curve_entry(launch, Code(index)); }

// Row-major codes have no prefix rule: decode, scale, encode.
DEVICE Entry curve_child(const LaunchArgs& launch, Code parent, u32 child) {
    u32 grid[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) grid[j] = launch.grid[j] / split(j);
    Entry entry = {0, row_major<DIM>(grid, parent)};
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        entry.coords[j] = entry.coords[j] * split(j) + child % split(j);
        child /= split(j);
    }
#pragma unroll
    for (u32 i = 0; i < DIM; i++) entry.code = entry.code * launch.grid[DIM - 1 - i] + entry.coords[DIM - 1 - i];
    return entry;
}
