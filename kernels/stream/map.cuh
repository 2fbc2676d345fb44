// Maps: what became of every region that was asked for, by its place in its level's lattice in row-major order, one level after the other.
// Asked for are the roots of a run, and the children of what is mixed.
#pragma once

// MAP_UNIFORM, MAP_MIXED, or MAP_ABSENT of what nobody asked for.
struct Fate {
    u32 state;
    Value value; // the key of one that is uniform; of one that is mixed the steps before which no cell is outside, as is proven or guessed
};

DEVICE void map_write(const StreamArgs& launch, const Coords& coords, const Fate& fate) {
    const u64 entry = launch.map_first + linear(launch.grid, coords);
    ((u8*)launch.fates)[entry] = u8(fate.state);
    ((Value*)launch.values)[entry] = fate.value;
}

// What became of a region of the launch's level: what is said of it, or of the first about it that was asked for.
DEVICE Fate map_read(const StreamArgs& launch, Coords coords) {
    u32 grid[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) grid[j] = launch.grid[j];
    u64 first = launch.map_first;
#pragma unroll 1
    for (u32 level = launch.level;; level--) {
        const u64 entry = first + linear(grid, coords);
        const u32 state = ((const u8*)launch.fates)[entry];
        if (state != MAP_ABSENT) return {state, ((const Value*)launch.values)[entry]};
        if (level == launch.root_level) return {MAP_ABSENT, 0};
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            grid[j] /= split(j);
            coords[j] /= split(j);
        }
        first -= level_regions(grid);
    }
}
