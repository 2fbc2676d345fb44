// Regions of a piece whose faces decide: the cells on them first, then on those of their children, then what is inside.
#pragma once

// Boxes of a piece, up to 32: where each begins, the axes on which it is a cell shorter than the longest, its faces that lie on its
// parent's (two bits an axis, the lower one first), its least label so far, and whether two were met.
struct Boxes {
    u32 index[32], shorter[32], since[32];
    u16 outer[32];
    u8 differs[32];
    u8 open[32]; // lanes whose regions are divided
};

// The longest sides of a lane's region, or of a region of the last level.
template <bool CHILD> DEVICE constexpr u32 longest(u32 j) { return CHILD ? leaf_side(j) : tile_side(j); }
template <bool CHILD> DEVICE constexpr u32 cells_inside() {
    u32 cells = 1;
    for (u32 j = 0; j < DIM; j++) cells *= longest<CHILD>(j) > 2 ? longest<CHILD>(j) - 2 : 0;
    return cells;
}
// The most cells on the faces of such a region. One with a side shorter by a cell may have none inside where the longest has some,
// but never more on its faces than all its cells.
template <bool CHILD> DEVICE constexpr u32 cells_outside() {
    u32 cells = 1, shorter = 1;
    for (u32 j = 0; j < DIM; j++) {
        cells *= longest<CHILD>(j);
        shorter *= longest<CHILD>(j) > 2 ? longest<CHILD>(j) - 2 : 0;
    }
    return cells - shorter;
}

// The least step at which a test is of use, as a label of a piece tells it.
DEVICE u32 first_test(TileLabel label) { return TILE_NARROW || !(COUNTS_AS_FLOATS || LABEL_IS_FLOAT) ? u32(label) : 0; }

struct Facer : Tiler {
    Boxes& boxes;
    const LaunchArgs& inner; // the last level's
    Cost explored, inner_explored, evaluated;
    Found found, inner_found;

    // What the level above says of a region; what is to be done about a root.
    DEVICE Fate fate(const Coords& coords) const {
        if (launch.above == 0) return {((const u8*)launch.mixed)[linear(launch.grid, coords)], 0};
        Coords parent;
        u32 grid[DIM];
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            parent[j] = coords[j] / split(j);
            grid[j] = launch.grid[j] / split(j);
        }
        return map_read(launch.above, launch.above_values, linear(grid, parent));
    }

    DEVICE void settle(u32 asked, const Coords& coords, const Region& region, Fate& fate) {
        const bool mine = (asked >> lane() & 1) != 0;
        if (mine) fate = foreseen(args, region);
        if (mine && fate.state == MAP_UNIFORM) found.proven++;
        u32 since = 0;
        look<false>(mine && fate.state == MAP_MIXED, region, 0, fate, since);
        explored.add(sheet.take());
        if (mine) {
            record(launch.mixed, launch.values, launch.grid, coords, fate);
            if (fate.state == MAP_UNIFORM) found.uniform(region.volume());
            else found.mixed(region.volume(), !TILE_DIVIDES);
            if (!TILE_DIVIDES && fate.state == MAP_MIXED) becomes_leaf(region, 0, explored);
        }
        const bool open = mine && fate.state == MAP_MIXED;
        if (TILE_DIVIDES) divide(__ballot_sync(WHOLE_WARP, open), coords);
        else inside<false>(open, region, since);
    }

  private:
    DEVICE static void record(u64 states, u64 values, const u32* grid, const Coords& coords, const Fate& fate) {
        if (states == 0) return;
        const u64 place = linear(grid, coords);
        ((u8*)states)[place] = u8(fate.state);
        ((Value*)values)[place] = fate.value;
    }

    // A leaf's cells count as evaluated, not as explored; those that its parent has on its faces, too, were explored above.
    DEVICE void becomes_leaf(const Region& box, u32 outer, Cost& looked) {
        if (run.array == 0) return;
        u32 others = 1;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) others *= box.extent[j] - (outer >> (2 * j) & 1) - (box.extent[j] > 1 ? outer >> (2 * j + 1) & 1 : 0);
        const u32 outside = u32(box.surface_volume()), known = outer == 0 ? 0 : u32(box.volume()) - others;
        explored.cells -= known;
        looked.cells -= outside - known;
        evaluated.cells += outside;
    }

    // The children of the regions of the `open` lanes.
    DEVICE void divide(u32 open, const Coords& coords) {
        if ((open >> lane() & 1) != 0) boxes.open[__popc(open & ((1u << lane()) - 1))] = u8(lane());
        __syncwarp();
        const u32 all = __popc(open) * CHILDREN;
#pragma unroll 1
        for (u32 base = 0; base < all && !ends(1); base += 32) {
            const bool mine = base + lane() < all;
            const u32 number = mine ? base + lane() : 0, parent = boxes.open[number / CHILDREN];
            u32 child = number % CHILDREN, outer = 0;
            Coords at;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                const u32 digit = child % split(j);
                at[j] = __shfl_sync(WHOLE_WARP, coords[j], parent) * split(j) + digit;
                outer |= (u32(digit == 0) | u32(digit + 1 == split(j)) << 1) << (2 * j);
                child /= split(j);
            }
            const Region box = region_at(run, inner, at);
            Fate fate{MAP_MIXED, 0};
            u32 since = 0;
            look<true>(mine, box, outer, fate, since);
            inner_explored.add(sheet.take());
            if (mine) {
                record(launch.below, launch.below_values, inner.grid, at, fate);
                if (fate.state == MAP_UNIFORM) inner_found.uniform(box.volume());
                else {
                    inner_found.mixed(box.volume(), true);
                    becomes_leaf(box, outer, inner_explored);
                }
            }
            if (mine && fate.state == MAP_UNIFORM && run.array != 0) paint(box, fate.value);
            inside<true>(mine && fate.state == MAP_MIXED, box, since);
        }
    }

    // Puts the boxes of those lanes that have one into the list. How many there are.
    template <bool CHILD> DEVICE u32 list(bool mine, const Region& box, u32 outer, u32 since) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), place = __popc(votes & ((1u << lane()) - 1));
        if (mine) {
            boxes.index[place] = piece_index(within(box.corner));
            boxes.since[place] = since;
            boxes.outer[place] = u16(outer);
            boxes.differs[place] = 0;
            boxes.shorter[place] = 0;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) boxes.shorter[place] |= u32(box.extent[j] < longest<CHILD>(j)) << j;
        }
        __syncwarp();
        return __popc(votes);
    }

    template <bool CHILD> DEVICE Region listed(u32 number) const {
        Region box{};
#pragma unroll
        for (u32 j = 0; j < DIM; j++) box.extent[j] = longest<CHILD>(j) - (TILE_EVEN ? 0 : boxes.shorter[number] >> j & 1);
        return box;
    }

    // A cell on the faces of a box: the box, the cell's place in the piece, whether there is one of that number, and whether it lies on
    // the faces of the box's parent, too.
    struct OnFace {
        u32 from, index;
        bool there, known;
    };
    template <bool CHILD> DEVICE OnFace on_face(u32 number, u32 all) const {
        constexpr u32 CELLS = cells_outside<CHILD>();
        const u32 from = number < all * CELLS ? number / CELLS : 0;
        const Region box = listed<CHILD>(from);
        const bool there = number < all * CELLS && (TILE_EVEN || number % CELLS < box.surface_volume());
        const Coords at = box.surface_offset(there ? number % CELLS : 0);
        bool known = false;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            const u32 outer = boxes.outer[from] >> (2 * j);
            known = known || ((outer & 1) != 0 && at[j] == 0) || ((outer & 2) != 0 && at[j] + 1 == box.extent[j]);
        }
        return {from, boxes.index[from] + piece_index(at), there, CHILD && known};
    }

    // Looks at the faces of the boxes of those lanes that have one. What a lane's box is, and the least of its labels there.
    template <bool CHILD> DEVICE void look(bool mine, const Region& box, u32 outer, Fate& fate, u32& since) {
        constexpr u32 CELLS = cells_outside<CHILD>();
        const u32 all = list<CHILD>(mine, box, outer, ~0u);
        if (all == 0) return;
        u32 base = 0;
        evaluator.evaluate_all(sheet, [&](u32& index, u32&, bool& evaluates) {
            do {
                if (base >= all * CELLS || ends(1)) return false;
                const OnFace cell = on_face<CHILD>(base + lane(), all);
                evaluates = cell.there && !cell.known;
                index = evaluates ? cell.index : 0;
                base += 32;
            } while (!__any_sync(WHOLE_WARP, evaluates));
            return true;
        });
#pragma unroll 1
        for (base = 0; base < all * CELLS; base += 32) {
            const OnFace cell = on_face<CHILD>(base + lane(), all);
            const TileLabel label = sheet.piece.labels[cell.index], first = sheet.piece.labels[boxes.index[cell.from]];
            if (cell.there && key(Value(label)) != key(Value(first))) boxes.differs[cell.from] = 1;
            const u32 test = first_test(label);
            if (cell.there && test < boxes.since[cell.from]) atomicMin(&boxes.since[cell.from], test);
        }
        __syncwarp();
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), place = __popc(votes & ((1u << lane()) - 1));
        if (mine) {
            since = boxes.since[place];
            if (boxes.differs[place] == 0) fate = {MAP_UNIFORM, key(Value(sheet.piece.labels[boxes.index[place]]))};
        }
        __syncwarp();
    }

    // Evaluates the cells inside the boxes of those lanes that have one.
    template <bool CHILD> DEVICE void inside(bool mine, const Region& box, u32 since) {
        constexpr u32 CELLS = cells_inside<CHILD>();
        if (CELLS == 0 || run.array == 0) return;
        const u32 all = list<CHILD>(mine, box, 0, since) * CELLS;
        u32 base = 0;
        evaluator.evaluate_all(sheet, [&](u32& index, u32& first, bool& there) {
            do {
                if (base >= all || ends(1)) return false;
                const u32 number = base + lane(), from = number < all ? number / CELLS : 0;
                const Region listed_box = listed<CHILD>(from);
                there = number < all;
                u32 rest = number % CELLS;
                Coords at;
#pragma unroll
                for (u32 j = 0; j < DIM; j++) {
                    at[j] = 1 + rest % (longest<CHILD>(j) - 2);
                    rest /= longest<CHILD>(j) - 2;
                    there = there && at[j] + 1 < listed_box.extent[j];
                    if (!there) at[j] = 0;
                }
                index = boxes.index[from] + piece_index(at);
                first = boxes.since[from];
                base += 32;
            } while (!TILE_EVEN && !__any_sync(WHOLE_WARP, there));
            return true;
        });
        evaluated.add(sheet.take());
    }
};
