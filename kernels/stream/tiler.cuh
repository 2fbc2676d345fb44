// What settles tiles: a warp goes through the pieces of a few of them, has what is not known of their regions found out, and stores the
// labels once.
#pragma once

// A warp with its piece. What is built on it has `Fate fate(coords)`, what is known of a lane's region beforehand, and
// `settle(asked, coords, region, fate)`, which puts labels into the cells of the `asked` lanes' regions, or says of them that they are uniform.
struct Tiler {
    const RunArgs& run;
    const LaunchArgs& launch;
    const FieldArgs& args;
    Listener& listener;
    Sheet& sheet;
    Evaluator& evaluator;
    u32 heard = 0; // labels since the warp last listened

    // True if the warp is to end, before it evaluates so many labels more.
    DEVICE bool ends(u32 labels) {
        heard += labels;
        if (heard < LISTEN) return listener.ended;
        heard = 0;
        return listener.ends(LISTEN);
    }

    // One label in every cell of a region, by one thread.
    DEVICE void paint(const Region& box, Value value) {
        const TileLabel label = tile_label(value);
        const u32 first = piece_index(within(box.corner)), cells = u32(box.volume());
        for (u32 i = 0; i < cells; i++) sheet.piece.labels[first + piece_index(box.offset(i))] = label;
    }

    // One label each in the cells of the regions of the `uniform` lanes of a piece whose first lane is `first`; by the warp.
    DEVICE void cover(u32 uniform, u32 first, const Region& region, Value value) {
        constexpr u32 LABELS = 4 / sizeof(TileLabel) > 0 ? 4 / sizeof(TileLabel) : 1;
        if constexpr (TILE_EVEN && tile_side(0) % LABELS == 0 && PIECE_CELLS % (32 * LABELS) == 0 && sizeof(TileLabel) <= 4) {
            const u32 label = u32(tile_label(value));
            const u32 word = sizeof(TileLabel) == 1 ? label * 0x01010101u : sizeof(TileLabel) == 2 ? label * 0x00010001u : label;
#pragma unroll 8
            for (u32 i = lane(); i < PIECE_CELLS / LABELS; i += 32) {
                const u32 from = first + piece_lane(piece_place(i * LABELS));
                const u32 mine = __shfl_sync(WHOLE_WARP, word, from);
                if ((uniform >> from & 1) != 0) ((u32*)sheet.piece.labels)[i] = mine;
            }
        } else {
            if ((uniform >> lane() & 1) != 0) paint(region, value);
        }
    }

    // Stores the piece: its regions are those of the lanes `mine`, from lane `first` on; `alike` if all have lane `source`'s label.
    DEVICE void store_piece(u32 mine, u32 first, const Region& region, bool alike, Value value) {
        constexpr bool ROWS = TILE_EVEN && piece_side(0) % QUAD_CELLS == 0;
        const CellValue cell = stored(value);
        if (ROWS && mine == PIECE_MASK << first && !run.windowed && run.extent[0] % QUAD_CELLS == 0) {
            const Quad quad = quad_of(cell);
            CellValue* const lowest = (CellValue*)run.array + linear(run.extent, sheet.corner);
#pragma unroll 4
            for (u32 i = lane(); i < PIECE_CELLS / QUAD_CELLS; i += 32) {
                const u32 index = i * QUAD_CELLS;
                *(Quad*)(lowest + linear(run.extent, piece_place(index))) = alike ? quad : sheet.piece.quad(index);
            }
            return;
        }
#pragma unroll 1
        for (u32 rest = mine; rest != 0; rest &= rest - 1) {
            const u32 from = __ffs(rest) - 1;
            Region box;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                box.corner[j] = __shfl_sync(WHOLE_WARP, region.corner[j], from);
                box.extent[j] = __shfl_sync(WHOLE_WARP, region.extent[j], from);
            }
            const u32 lowest = piece_index(within(box.corner)), cells = u32(box.volume());
            for (u32 i = lane(); i < cells; i += 32) {
                const Coords at = box.offset(i);
                store(run, box.cell(at), alike ? cell : tile_cell(sheet.piece.labels[lowest + piece_index(at)]));
            }
        }
    }

    // The place of a cell in the piece.
    DEVICE Coords within(const Coords& cell) const {
        Coords at;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) at[j] = cell[j] - sheet.corner[j];
        return at;
    }
};

// The tiles of a warp.
template <class Work> DEVICE void settle_tiles(Work& work) {
    const LaunchArgs& launch = work.launch;
    const u64 team = (launch.first + blockIdx.x) * WARPS + warp();
    const u64 begin = team * launch.pieces, end = begin + launch.pieces < launch.regions ? begin + launch.pieces : launch.regions;
#pragma unroll 1
    for (u64 tile = begin; tile < end && !(tile == begin ? work.listener.ends(0) : work.ends(LISTEN)); tile++) {
        Coords coords;
        Fate fate{MAP_ABSENT, 0};
        if (tile_region(launch, tile, coords)) fate = work.fate(coords);
        const Region region = region_at(work.run, launch, coords);
#pragma unroll 1
        for (u32 first = 0; first < TILE_LANES; first += PIECE_LANES) {
            const bool of_piece = (PIECE_MASK << first >> lane() & 1) != 0;
            const u32 mine = __ballot_sync(WHOLE_WARP, of_piece && fate.state != MAP_ABSENT);
            if (mine == 0) continue;
            const u32 asked = __ballot_sync(WHOLE_WARP, of_piece && fate.state == MAP_MIXED);
#pragma unroll
            for (u32 j = 0; j < DIM; j++) work.sheet.corner[j] = __shfl_sync(WHOLE_WARP, region.corner[j], first);
            if (asked != 0) work.settle(asked, coords, region, fate);
            if (work.run.array == 0) continue;
            const u32 open = __ballot_sync(WHOLE_WARP, of_piece && fate.state == MAP_MIXED);
            const Value value = __shfl_sync(WHOLE_WARP, fate.value, __ffs(mine) - 1);
            const bool differs = of_piece && fate.state == MAP_UNIFORM && fate.value != value;
            const bool alike = open == 0 && !__any_sync(WHOLE_WARP, differs);
            if (!alike) work.cover(mine & ~open, first, region, fate.value);
            __syncwarp();
            work.store_piece(mine, first, region, alike, value);
            __syncwarp();
        }
    }
}
