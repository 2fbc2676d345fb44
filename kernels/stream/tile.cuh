// Tiles: boxes of up to 32 regions of one level, a lane each, whose cells a warp settles and stores once, in long rows.
//
// A tile has tile_regions(j) regions on axis j, TILE_LANES in all, each at most tile_side(j) cells long; lanes number them, axis 0
// first. Labels are gathered in shared memory for a piece of the tile at a time: PIECE_LANES regions next to each other. All of them
// are powers of two, chosen in src/cuda/strategy/stream_tile.rs.
#pragma once

// Regions of a piece along an axis.
DEVICE constexpr u32 piece_regions(u32 j) {
    u32 left = PIECE_LANES;
    for (u32 i = 0; i < j; i++) left /= left < tile_regions(i) ? left : tile_regions(i);
    return left < tile_regions(j) ? left : tile_regions(j);
}
// Cells of a piece along an axis, at most.
DEVICE constexpr u32 piece_side(u32 j) { return piece_regions(j) * tile_side(j); }
DEVICE constexpr u32 piece_stride(u32 j) {
    u32 cells = 1;
    for (u32 i = 0; i < j; i++) cells *= piece_side(i);
    return cells;
}
DEVICE constexpr u32 tile_lanes() {
    u32 lanes = 1;
    for (u32 j = 0; j < DIM; j++) lanes *= tile_regions(j);
    return lanes;
}
// True if a number of a cell of a piece is made of bits for each axis.
DEVICE constexpr bool piece_binary() {
    bool binary = true;
    for (u32 j = 0; j < DIM; j++) binary = binary && (piece_side(j) & (piece_side(j) - 1)) == 0;
    return binary;
}
constexpr bool PIECE_BINARY = piece_binary();
constexpr u32 TILE_LANES = tile_lanes();
constexpr u32 PIECE_CELLS = piece_stride(DIM);
constexpr u32 WHOLE_WARP = 0xffffffffu;
constexpr u32 PIECE_MASK = PIECE_LANES == 32 ? WHOLE_WARP : (1u << PIECE_LANES % 32) - 1;

// The number of a cell of a piece, of which `at` is the place from its lowest cell, and back.
DEVICE u32 piece_index(const Coords& at) {
    u32 index = 0;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) index += at[j] * piece_stride(j);
    return index;
}
DEVICE Coords piece_place(u32 index) {
    Coords at;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        at[j] = index % piece_side(j);
        index /= piece_side(j);
    }
    return at;
}
// The lane, counted from the first of the piece, whose region holds that cell. Only of regions that are all alike.
DEVICE u32 piece_lane(const Coords& at) {
    u32 number = 0, stride = 1;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        number += at[j] / tile_side(j) * stride;
        stride *= piece_regions(j);
    }
    return number;
}

// A label as a piece keeps it, in few bits where all labels are small, and as the cell that it becomes.
DEVICE TileLabel tile_label(Value value) { return TILE_NARROW ? TileLabel(value) : TileLabel(stored(value)); }
DEVICE CellValue tile_cell(TileLabel label) { return TILE_NARROW ? stored(Value(label)) : CellValue(label); }

// The labels of a piece, by the number of their cell.
struct alignas(16) Piece {
    TileLabel labels[PIECE_CELLS];

    // Sixteen bytes of cells from a number on, which is a multiple of as many.
    DEVICE Quad quad(u32 index) const {
        constexpr u32 BYTES = sizeof(CellValue), FROM = sizeof(TileLabel);
        constexpr bool AS_THEY_ARE = !TILE_NARROW || !COUNTS_AS_FLOATS, WIDENED = AS_THEY_ARE && FROM < BYTES && BYTES <= 4;
        if (AS_THEY_ARE && FROM == BYTES) return *(const Quad*)(labels + index);
        u32 words[4];
        if (WIDENED) {
            // With zero bytes between them.
            constexpr u32 MANY = WIDENED ? 4 * FROM / BYTES : 1;
            struct alignas(4 * MANY) Few {
                u32 words[MANY];
            };
            const Few few = *(const Few*)(labels + index);
#pragma unroll
            for (u32 i = 0; i < 4; i++) {
                u32 selector = 0;
#pragma unroll
                for (u32 b = 0; b < 4; b++) {
                    const u32 label = (i * 4 + b) / BYTES;
                    selector |= (b % BYTES < FROM ? label * FROM % 4 + b % BYTES : 4) << (4 * b);
                }
                words[i] = __byte_perm(few.words[WIDENED ? i * FROM / BYTES : 0], 0, selector);
            }
            return {words[0], words[1], words[2], words[3]};
        }
#pragma unroll
        for (u32 i = 0; i < 4; i++) {
            words[i] = 0;
#pragma unroll
            for (u32 b = 0; b < (BYTES < 4 ? 4 / BYTES : 1); b++) {
                const u32 cell = BYTES == 8 ? i / 2 : i * (BYTES < 4 ? 4 / BYTES : 1) + b;
                const u64 bits = u64(tile_cell(labels[index + cell]));
                words[i] |= u32(BYTES == 8 && i % 2 == 1 ? bits >> 32 : bits) << (b * BYTES * 8 % 32);
            }
        }
        return {words[0], words[1], words[2], words[3]};
    }
};

// The coordinates of a lane's region on a level; false if it is beyond the lattice.
DEVICE bool tile_region(const u32* grid, u32 tile, Coords& coords) {
    bool there = true;
    u32 number = lane();
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const u32 tiles = ceil_div(grid[j], tile_regions(j));
        coords[j] = (j + 1 < DIM ? tile % tiles : tile) * tile_regions(j) + number % tile_regions(j);
        tile /= tiles;
        number /= tile_regions(j);
        there = there && coords[j] < grid[j];
    }
    // A small tile has lanes to spare.
    return there && number == 0;
}
