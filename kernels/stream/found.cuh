// How many regions a level has, and what became of them.
#pragma once

// There are fewer than 2^32, as the host sees to.
DEVICE u64 level_regions(const u32* grid) {
    u64 regions = 1;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) regions *= grid[j];
    return regions;
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
