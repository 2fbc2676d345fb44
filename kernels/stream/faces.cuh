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

// What a warp is at: the faces of regions, those of their children, or what is inside the leaves.
enum Step : u32 { FACES, CHILD_FACES, INSIDES };

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

    // One loop for all three, so that there is one place in the code where cells are evaluated: it must fit the caches of instructions.
    DEVICE void settle(u32 asked, const Coords& coords, const Region& region, Fate& fate) {
        const bool mine = (asked >> lane() & 1) != 0;
        if (mine) fate = foreseen(args, region);
        if (mine && fate.state == MAP_UNIFORM) found.proven++;
        // What is at hand: the regions themselves, or some of their children.
        Step step = FACES;
        u32 children = 0, first = 0; // all of them, and the number of lane 0's
        u32 all = list(mine && fate.state == MAP_MIXED, region, step, 0, ~0u);
        Coords at = coords;
        Region box = region;
        u32 outer = 0;
        bool has = mine;
        Fate now = fate;
#pragma unroll 1
        while (true) {
            evaluate(step, all);
            if (listener.ended) return;
            if (step == INSIDES) {
                evaluated.add(sheet.take());
            } else {
                const bool of_child = step == CHILD_FACES;
                const Cost looked = sheet.take();
                const u32 since = judge(step, all, has, now);
                // Each by its name: a reference to either would have both in memory.
                if (of_child) account(looked, inner_explored, inner_found, has, box, outer, true, now);
                else account(looked, explored, found, has, box, outer, !TILE_DIVIDES, now);
                if (has) {
                    if (of_child) record(launch.below, launch.below_values, inner, at, now);
                    else record(launch.mixed, launch.values, launch, at, now);
                    if (of_child && now.state == MAP_UNIFORM && run.array != 0) paint(box, now.value);
                }
                const bool open = has && now.state == MAP_MIXED;
                if (of_child || !TILE_DIVIDES) {
                    if (!of_child) fate = now;
                    step = INSIDES;
                    all = run.array != 0 ? list(open, box, of_child ? CHILD_FACES : FACES, 0, since) : 0;
                    if (all > 0) continue;
                } else {
                    fate = now;
                    const u32 parents = __ballot_sync(WHOLE_WARP, open);
                    if (open) boxes.open[__popc(parents & ((1u << lane()) - 1))] = u8(lane());
                    __syncwarp();
                    children = __popc(parents) * CHILDREN;
                }
            }
            if (first >= children) return;
            // The next of the children.
            has = first + lane() < children;
            const u32 number = has ? first + lane() : 0, parent = boxes.open[number / CHILDREN];
            u32 child = number % CHILDREN;
            outer = 0;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                const u32 digit = child % split(j);
                at[j] = __shfl_sync(WHOLE_WARP, coords[j], parent) * split(j) + digit;
                outer |= (u32(digit == 0) | u32(digit + 1 == split(j)) << 1) << (2 * j);
                child /= split(j);
            }
            box = region_at(run, inner, at);
            now = {MAP_MIXED, 0};
            first += 32;
            step = CHILD_FACES;
            all = list(has, box, step, outer, ~0u);
        }
    }

  private:
    DEVICE static void record(u64 states, u64 values, const LaunchArgs& level, const Coords& coords, const Fate& fate) {
        if (states == 0) return;
        const u64 place = linear(level.grid, coords);
        ((u8*)states)[place] = u8(fate.state);
        ((Value*)values)[place] = fate.value;
    }

    // Counts what was looked at, and what it came to.
    DEVICE void account(const Cost& cost, Cost& looked, Found& kept, bool has, const Region& box, u32 outer, bool leaf, const Fate& fate) {
        looked.add(cost);
        if (!has) return;
        if (fate.state == MAP_UNIFORM) kept.uniform(box.volume());
        else kept.mixed(box.volume(), leaf);
        if (fate.state == MAP_MIXED && leaf) becomes_leaf(box, outer, looked);
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

    // The longest side of what is listed for a step.
    DEVICE static u32 side(Step step, u32 j) { return step == FACES || !TILE_DIVIDES ? tile_side(j) : leaf_side(j); }

    // Puts the boxes of those lanes that have one into the list. How many there are.
    DEVICE u32 list(bool mine, const Region& box, Step step, u32 outer, u32 since) {
        const u32 votes = __ballot_sync(WHOLE_WARP, mine), place = __popc(votes & ((1u << lane()) - 1));
        if (mine) {
            boxes.index[place] = piece_index(within(box.corner));
            boxes.since[place] = since;
            boxes.outer[place] = u16(outer);
            boxes.differs[place] = 0;
            boxes.shorter[place] = 0;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) boxes.shorter[place] |= u32(box.extent[j] < side(step, j)) << j;
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

    // A cell of a box: the box, the cell's place in the piece, whether there is one of that number, and whether it lies on the faces of
    // the box's parent, too.
    struct Named {
        u32 from, index;
        bool there, known;
    };
    template <bool CHILD> DEVICE Named on_face(u32 number, u32 all) const {
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
    template <bool CHILD> DEVICE Named inside(u32 number, u32 all) const {
        constexpr u32 CELLS = cells_inside<CHILD>() > 0 ? cells_inside<CHILD>() : 1;
        const u32 from = number < all * CELLS ? number / CELLS : 0;
        const Region box = listed<CHILD>(from);
        bool there = number < all * cells_inside<CHILD>();
        u32 rest = number % CELLS;
        Coords at;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            const u32 within = longest<CHILD>(j) > 2 ? longest<CHILD>(j) - 2 : 1;
            at[j] = 1 + rest % within;
            rest /= within;
            there = there && at[j] + 1 < box.extent[j];
            if (!there) at[j] = 0;
        }
        return {from, boxes.index[from] + piece_index(at), there, false};
    }

    // The numbers of a step's cells, and one of them.
    DEVICE static u32 numbers(Step step) {
        if (step == FACES) return cells_outside<false>();
        return step == CHILD_FACES ? cells_outside<true>() : cells_inside<TILE_DIVIDES>();
    }
    DEVICE Named named(Step step, u32 number, u32 all) const {
        if (step == FACES) return on_face<false>(number, all);
        return TILE_DIVIDES && step == CHILD_FACES ? on_face<true>(number, all) : inside<TILE_DIVIDES>(number, all);
    }

    DEVICE void evaluate(Step step, u32 all) {
        const u32 end = all * numbers(step);
        u32 base = 0;
        evaluator.evaluate_all(sheet, [&](u32& index, u32& since, bool& mine) {
            do {
                if (base >= end || ends(1)) return false;
                const Named cell = named(step, base + lane(), all);
                mine = cell.there && !cell.known;
                index = mine ? cell.index : 0;
                since = step == INSIDES ? boxes.since[cell.from] : 0;
                base += 32;
            } while (!__any_sync(WHOLE_WARP, mine));
            return true;
        });
    }

    // What the boxes of those lanes that have one are, by the labels on their faces. The least of those.
    DEVICE u32 judge(Step step, u32 all, bool mine, Fate& fate) {
        const u32 end = all * numbers(step);
#pragma unroll 1
        for (u32 base = 0; base < end; base += 32) {
            const Named cell = named(step, base + lane(), all);
            const TileLabel label = sheet.piece.labels[cell.index], first = sheet.piece.labels[boxes.index[cell.from]];
            if (cell.there && key(Value(label)) != key(Value(first))) boxes.differs[cell.from] = 1;
            const u32 test = first_test(label);
            if (cell.there && test < boxes.since[cell.from]) atomicMin(&boxes.since[cell.from], test);
        }
        __syncwarp();
        // Those that were proven are not in the list.
        const bool asked = mine && fate.state == MAP_MIXED;
        const u32 votes = __ballot_sync(WHOLE_WARP, asked), place = __popc(votes & ((1u << lane()) - 1));
        const u32 since = asked ? boxes.since[place] : 0;
        if (asked && boxes.differs[place] == 0) fate = {MAP_UNIFORM, key(Value(sheet.piece.labels[boxes.index[place]]))};
        __syncwarp();
        return since;
    }
};
