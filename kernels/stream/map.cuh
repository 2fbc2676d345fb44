// Maps: what became of every region of a level's lattice, in row-major order. They take the place of OLTs where proofs, which cost
// next to nothing, say so much of a level that its lattice is hardly larger than a list of what is left; or faces that lie in memory.
#pragma once

// MAP_ABSENT of what no root covers, MAP_MIXED or MAP_UNIFORM; MAP_MIXED of a root before it is looked at.
struct Fate {
    u32 state;
    Value value; // the key of one that is uniform; of one that is mixed the steps before which no cell is outside, as is proven or guessed
};

DEVICE Fate map_read(u64 states, u64 values, u64 index) { return {((const u8*)states)[index], ((const Value*)values)[index]}; }

// There are fewer than 2^32 regions, as the host sees to.
DEVICE Coords map_place(const u32* grid, u32 index) {
    Coords at;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        at[j] = j + 1 < DIM ? index % grid[j] : index;
        index /= grid[j];
    }
    return at;
}

// Region number `index` of a level, and what it comes from: what its parent is, or whether it is a root. Families are numbered one
// after the other, so that the lanes of a warp mostly have parents that are alike.
DEVICE Fate inherited(const LaunchArgs& launch, u32 index, Coords& coords) {
    if (launch.above == 0) {
        coords = map_place(launch.grid, index);
        return {((const u8*)launch.mixed)[index], 0};
    }
    const u32 family = index / CHILDREN;
    u32 child = index % CHILDREN, grid[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) grid[j] = launch.grid[j] / split(j);
    coords = map_place(grid, family);
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        coords[j] = coords[j] * split(j) + child % split(j);
        child /= split(j);
    }
    return map_read(launch.above, launch.above_values, family);
}

// What a level's regions come to, per thread.
struct Found {
    u64 subdivided = 0, filled = 0, proven = 0, leaves = 0, filled_cells = 0, leaf_cells = 0;

    DEVICE void uniform(u64 cells) {
        filled++;
        filled_cells += cells;
    }
    DEVICE void mixed(u64 cells, bool last) {
        if (!last) subdivided++;
        else {
            leaves++;
            leaf_cells += cells;
        }
    }
    // By whole warps.
    DEVICE void settle(u64 tallies) const {
        settle(tallies, TALLY_SUBDIVIDED, subdivided);
        settle(tallies, TALLY_FILLED, filled);
        settle(tallies, TALLY_PROVEN, proven);
        settle(tallies, TALLY_FILLED_CELLS, filled_cells);
        settle(tallies, TALLY_LEAVES, leaves);
        settle(tallies, TALLY_LEAF_CELLS, leaf_cells);
    }

  private:
    static DEVICE void settle(u64 tallies, u32 column, u64 mine) {
        const u64 sum = warp_sum(mine);
        if (lane() == 0 && sum > 0) count(tallies, column, sum);
    }
};
