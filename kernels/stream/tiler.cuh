// How the cells of a piece are settled by a warp.
#pragma once

// A leaf that a warp is about to evaluate: where it begins in the domain and in the piece, and the steps before which, as is proven or
// guessed, none of its cells is outside.
struct alignas(DIM % 2 == 0 ? 16 : sizeof(Number)) Leaf {
    Number first[DIM];
    u32 index, since;
};
// Those of a warp; where each begins among the faces, and the axes on which it is a cell shorter than the longest.
struct Leaves {
    Leaf of[32];
    u32 shorter[TILE_EVEN ? 1 : 32];
    u32 faces[SHARES_FACES ? DIM : 1][32];
    u8 open[32]; // lanes whose regions are divided
};

// Cells on the lower faces of a leaf whose labels are known, per axis, and those of the longest leaf that are not.
constexpr u32 KNOWN = SHARES_FACES ? 1 : 0;
DEVICE constexpr u32 leaf_cells() {
    u32 cells = 1;
    for (u32 j = 0; j < DIM; j++) cells *= leaf_side(j) - KNOWN;
    return cells;
}
constexpr u32 LEAF_CELLS = leaf_cells();
// Those of its brick, and how many of a row are stored together.
DEVICE constexpr u32 brick_cells() {
    u32 cells = 1;
    for (u32 j = 0; j < DIM; j++) cells *= leaf_side(j);
    return cells;
}
DEVICE constexpr u32 brick_row() {
    u32 cells = 16 / sizeof(CellValue);
    while (leaf_side(0) % cells != 0) cells /= 2;
    return TILE_EVEN ? cells : 1;
}
constexpr u32 BRICK_CELLS = brick_cells(), BRICK_ROW = brick_row();
// Those along an axis, where there are any.
DEVICE constexpr u32 open_side(u32 j) { return leaf_side(j) > KNOWN ? leaf_side(j) - KNOWN : 1; }

// What a warp works with.
struct Tiler {
    const RunArgs& run;
    const StreamArgs& launch;
    const FieldArgs& args;
    Listener& listener;
    Sheet& sheet;
    Evaluator<false>& evaluator;
    Leaves& leaves;
    u32 heard = 0; // labels since the warp last listened
    u64 evaluated = 0, known = 0; // cells

    // True if the warp is to end, before it evaluates so many labels more.
    DEVICE bool ends(u32 labels) {
        heard += labels;
        if (heard < LISTEN) return listener.ended;
        heard = 0;
        return listener.ends(LISTEN);
    }

    // Evaluates the leaves of those lanes that have one.
    DEVICE void evaluate(bool mine, const Coords& coords, const Region& box, u32 since) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), leaf = __popc(votes & ((1u << lane()) - 1));
        // Of a run that keeps counts only, no cell is wanted.
        if ((run.array == 0 && !KEEPS_BRICKS) || votes == 0) return;
        if (mine) {
            u32 cells = 1;
            u32 shorter = 0;
            leaves.of[leaf].index = piece_index(within(box.corner));
            leaves.of[leaf].since = since;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                leaves.of[leaf].first[j] = number_of(args, box.corner[j]);
                shorter |= u32(box.extent[j] < leaf_side(j)) << j;
                cells *= box.extent[j] - KNOWN;
#if SHARES_FACES
                leaves.faces[j][leaf] = face_index(run, launch, j, coords[j], box.corner);
#endif
            }
            if (!TILE_EVEN) leaves.shorter[leaf] = shorter;
            evaluated += cells;
            known += box.volume() - cells;
        }
        __syncwarp();
#if SHARES_FACES
#pragma unroll
        for (u32 j = 0; j < DIM; j++) copy(j, __popc(votes));
#endif
        if constexpr (LEAF_CELLS > 0) {
            const u32 all = __popc(votes) * LEAF_CELLS;
#pragma unroll 1
            for (u32 base = 0; base < all && !ends(LISTEN);) {
                const u32 end = all - base < LISTEN * 32 ? all : base + LISTEN * 32;
#pragma unroll 1
                for (; base < end; base += 32) chunk(base, all);
            }
        }
        __syncwarp();
    }

    // Those from a number on, a multiple of 32, of the cells of all leaves that are to be evaluated, if there are so many; by the warp.
    DEVICE void chunk(u32 base, u32 all) {
        constexpr u32 most_cells = LEAF_CELLS > 0 ? LEAF_CELLS : 1;
        const u32 number = base + lane();
        bool there = number < all;
        const u32 from = there ? number / most_cells : 0;
        // Of small leaves a lane has the same cell every time.
        u32 rest = (32 % most_cells == 0 ? lane() : number) % most_cells;
        Coords at;
        Point point;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            at[j] = KNOWN + (j + 1 < DIM ? rest % open_side(j) : rest);
            rest /= open_side(j);
            if (!TILE_EVEN) {
                const bool beyond = at[j] + 1 == leaf_side(j) && (leaves.shorter[from] >> j & 1) != 0;
                there = there && !beyond;
                at[j] = beyond ? 0 : at[j];
            }
        }
        // Of none the least step to start at would be the cap.
        if (!TILE_EVEN && !__any_sync(WHOLE_WARP, there)) return;
        const Leaf& leaf = leaves.of[from];
#pragma unroll
        for (u32 j = 0; j < DIM; j++) point.x[j] = sample_of(args, j, leaf.first[j] + Number(at[j]));
        evaluator.evaluate(sheet, leaf.index + piece_index(at), point, leaf.since, there);
    }

#if SHARES_FACES
    // The cells on the lower faces of leaves that are normal to an axis, but for those on the faces of axes below.
    DEVICE void copy(u32 axis, u32 all) {
        u32 cells = 1;
#pragma unroll
        for (u32 l = 0; l < DIM; l++) cells *= l == axis ? 1 : leaf_side(l) - (l < axis);
#pragma unroll 1
        for (u32 number = lane(); number < all * cells; number += 32) {
            const u32 from = number / cells;
            u32 rest = number % cells, index = leaves.faces[axis][from];
            bool there = true;
            Coords at;
#pragma unroll
            for (u32 l = 0; l < DIM; l++) {
                const u32 side = l == axis ? 1 : leaf_side(l) - (l < axis);
                at[l] = (l < axis) + rest % side;
                rest /= side;
                if (!TILE_EVEN) there = there && !(at[l] > 0 && at[l] + 1 == leaf_side(l) && (leaves.shorter[from] >> l & 1) != 0);
                index += l == axis ? 0 : at[l] * face_stride(run, axis, l);
            }
            if (there) sheet.piece.labels[leaves.of[from].index + piece_index(at)] = tile_label(Value(((const FaceLabel*)launch.faces)[index]));
        }
    }
#endif

#if TILE_DIVIDES
    // Proves the children of the regions of the `open` lanes, and evaluates those that are mixed.
    DEVICE void divide(u32 open, const Coords& coords, const LaunchArgs& inner, Found& found) {
        if ((open >> lane() & 1) != 0) leaves.open[__popc(open & ((1u << lane()) - 1))] = u8(lane());
        __syncwarp();
        const u32 all = __popc(open) * CHILDREN;
#pragma unroll 1
        for (u32 base = 0; base < all && !ends(1); base += 32) {
            const bool there = base + lane() < all;
            const u32 number = there ? base + lane() : 0, parent = leaves.open[number / CHILDREN];
            u32 child = number % CHILDREN;
            Coords at;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                at[j] = __shfl_sync(WHOLE_WARP, coords[j], parent) * split(j) + child % split(j);
                child /= split(j);
            }
            const Region box = region_at(run, inner, at);
            Fate fate{MAP_ABSENT, 0};
            if (there) fate = proven(args, box, true, found);
            __syncwarp();
            if (fate.state == MAP_UNIFORM && run.array != 0) paint(box, fate.value);
            evaluate(fate.state == MAP_MIXED, at, box, u32(fate.value));
        }
    }
#endif

    // One label in every cell of a region, by one thread; two at a time where that goes.
    DEVICE void paint(const Region& box, Value value) {
        constexpr u32 MANY = TILE_EVEN && leaf_side(0) % 2 == 0 ? 2 : 1;
        struct alignas(MANY * sizeof(TileLabel)) Labels {
            TileLabel of[MANY];
        } labels;
#pragma unroll
        for (u32 i = 0; i < MANY; i++) labels.of[i] = tile_label(value);
        TileLabel* const first = sheet.piece.labels + piece_index(within(box.corner));
        const u32 cells = u32(box.volume());
        for (u32 i = 0; i < cells; i += MANY) *(Labels*)(first + piece_index(box.offset(i))) = labels;
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

    // Stores the piece by rows, of which this lane has sixteen bytes from a place on that is the same in each.
    template <bool ALIKE> DEVICE void rows(CellValue* mine, const Quad& quad) {
#pragma unroll 16
        for (u32 i = 0; i < PIECE_CELLS / QUAD_CELLS; i += 32) {
            if (i + lane() >= PIECE_CELLS / QUAD_CELLS) break;
            CellValue* const to = mine + linear(run.extent, piece_place(i * QUAD_CELLS));
            put((Quad*)to, ALIKE ? quad : sheet.piece.quad((i + lane()) * QUAD_CELLS));
        }
    }

    // Stores the piece: its regions are those of the lanes `mine`, from lane `first` on; `alike` if all have lane `source`'s label.
    DEVICE void store_piece(u32 mine, u32 first, const Region& region, bool alike, Value value) {
        constexpr bool ROWS = TILE_EVEN && piece_side(0) % QUAD_CELLS == 0;
        const CellValue cell = stored(value);
        if (ROWS && mine == PIECE_MASK << first && !run.windowed && run.extent[0] % QUAD_CELLS == 0) {
            const Quad quad = quad_of(cell);
            CellValue* const lowest = (CellValue*)run.array + linear(run.extent, sheet.corner);
            if constexpr (PIECE_BINARY) {
                // A lane's place in a row is the same in every row, so that only rows have to be found.
                CellValue* const mine = lowest + linear(run.extent, piece_place(lane() * QUAD_CELLS));
                if (alike) rows<true>(mine, quad);
                else rows<false>(mine, quad);
            } else {
#pragma unroll 4
                for (u32 i = lane(); i < PIECE_CELLS / QUAD_CELLS; i += 32) {
                    const u32 index = i * QUAD_CELLS;
                    put((Quad*)(lowest + linear(run.extent, piece_place(index))), alike ? quad : sheet.piece.quad(index));
                }
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

#if KEEPS_BRICKS
    // Lists the leaves that were evaluated last, those of the lanes `open`, and stores their cells, each leaf's in its storage order.
    DEVICE void keep(u32 open, const Coords& coords) {
        struct alignas(BRICK_ROW * sizeof(TileLabel)) Labels {
            TileLabel of[BRICK_ROW];
        };
        struct alignas(BRICK_ROW * sizeof(CellValue)) Cells {
            CellValue of[BRICK_ROW];
        };
        const u32 all = __popc(open);
        u64 leaf = 0;
        if (lane() == 0) leaf = atomicAdd((u64*)launch.tallies + TALLY_LISTED, u64(all));
        leaf = __shfl_sync(WHOLE_WARP, leaf, 0);
        if ((open >> lane() & 1) != 0) ((u32*)launch.leaves)[leaf + __popc(open & ((1u << lane()) - 1))] = u32(linear(launch.grid, coords));
        CellValue* const bricks = (CellValue*)launch.bricks + leaf * BRICK_CELLS;
        // What others have put there.
        __syncwarp();
        for (u32 number = lane() * BRICK_ROW; number < all * BRICK_CELLS; number += 32 * BRICK_ROW) {
            const u32 from = number / BRICK_CELLS;
            u32 rest = number % BRICK_CELLS, index = leaves.of[from].index, to = from * BRICK_CELLS, stride = 1;
            bool there = true;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                const u32 at = rest % leaf_side(j), side = TILE_EVEN ? leaf_side(j) : leaf_side(j) - (leaves.shorter[from] >> j & 1);
                rest /= leaf_side(j);
                there = there && at < side;
                index += at * piece_stride(j);
                to += at * stride;
                stride *= side;
            }
            if (!there) continue;
            const Labels labels = *(const Labels*)(sheet.piece.labels + index);
            Cells cells;
#pragma unroll
            for (u32 i = 0; i < BRICK_ROW; i++) cells.of[i] = tile_cell(labels.of[i]);
            *(Cells*)(bricks + to) = cells;
        }
        // Before others put theirs there.
        __syncwarp();
    }
#endif

    // The place of a cell in the piece.
    DEVICE Coords within(const Coords& cell) const {
        Coords at;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) at[j] = cell[j] - sheet.corner[j];
        return at;
    }
};
