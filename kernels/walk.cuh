// How the threads of a block cover a box: in tiles of the block's shape.
//
// Axes 0 to 2 of a tile follow the block's shape, the others are one cell thick. A box that is narrower than the block
// gets narrower tiles, several at a time; one that is no multiple of it gets tiles of equal width, so that few threads
// idle. Whole warps take part in every step, since labels are evaluated by whole warps; `mine` says who has a cell.
#pragma once

struct Walk {
    Region box;
    Coords count;  // tiles per axis
    u32 side[3];   // cells of a tile on axes 0..2
    u32 within[3]; // this thread's place in its tile
    u32 team, teams; // which of the tiles walked at a time is this thread's
    u32 tiles; // the host sees to it that there are fewer than 2^31

    DEVICE explicit Walk(const Region& box) : box(box) {
        const u32 shape[3] = {BLOCK_X, BLOCK_Y, BLOCK_Z};
        u32 cells = 1;
        tiles = 1;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            // In one dimension the block is a row.
            const u32 most = DIM == 1 ? BLOCK : j < 3 ? shape[j] : 1;
            count[j] = most == 1 ? box.extent[j] : ceil_div(box.extent[j], most);
            tiles *= count[j];
            if (j < 3) {
                side[j] = most == 1 ? 1 : ceil_div(box.extent[j], count[j]);
                cells *= side[j];
            }
        }
        u32 rest = threadIdx.x % cells;
        team = threadIdx.x / cells;
        teams = BLOCK / cells;
#pragma unroll
        for (u32 j = 0; j < 3 && j < DIM; j++) {
            within[j] = rest % side[j];
            rest /= side[j];
        }
    }

    // The place of tile number `tile` among the tiles, axis by axis; beyond the last axis' end if there is no such tile.
    DEVICE Coords place(u32 tile) const {
        Coords place;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            place[j] = tile;
            if (j + 1 < DIM) {
                place[j] = tile % count[j];
                tile /= count[j];
            }
        }
        return place;
    }

    // Goes on by as many tiles as `step` is the place of: places are numbers with a digit per axis.
    DEVICE void advance(Coords& place, const Coords& step) const {
        u32 carry = 0;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            place[j] += step[j] + carry;
            carry = j + 1 < DIM && place[j] >= count[j];
            if (carry) place[j] -= count[j];
        }
    }

    // The tiles of this thread, which takes every `each`-th from `first` on.
    DEVICE u32 steps(u32 first, u32 each) const {
        return team < teams && first < tiles ? (tiles - first - 1) / each + 1 : 0;
    }

    // The cell of this thread in a tile; false if there is none.
    DEVICE bool cell(const Coords& place, Coords& cell) const {
        bool mine = team < teams && place[DIM - 1] < count[DIM - 1];
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            cell[j] = place[j];
            if (j < 3) {
                cell[j] = cell[j] * side[j] + within[j];
                mine = mine && cell[j] < box.extent[j];
            }
        }
#pragma unroll
        for (u32 j = 0; j < DIM; j++) cell[j] = box.corner[j] + (mine ? cell[j] : 0);
        return mine;
    }
};
