// From the cells up: what regions of an array are, of one look at every cell, and lists of them in their order along the curve.
//
//   pyramid_cells   the deepest level of the pyramid: a thread takes a column, some bytes of a row wide, through the rows of a region
//   pyramid_merge   a level above: a region's children tell what it is
//   list_rank       a level: how many regions of each piece of the curve are terminal
//   list_place      a level: the terminal ones, by code, to their places in the lists
//   list_bricks     the cells of leaves, one brick after the other
//
// Children tile their parent, so that this is what rule `full` finds from the top down. A pyramid is an array per level of what is
// known of regions, by their places in the level's lattice (fields/array.cuh looks there). Of a part of a plan there is the box that
// its roots lie in: `corner` is the first region of a level, `extent` how many there are per axis.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include FIELD_HEADER

#include "stream/found.cuh"

static_assert(sizeof(CellValue) == sizeof(Label), "elements are stored as they are");

// Bytes of a row that a thread takes at once.
struct alignas(16) Sixteen {
    u64 halves[2];
};

template <class Unit> constexpr u32 CELLS = sizeof(Unit) / sizeof(Label);

// A label in every cell of eight bytes.
DEVICE u64 repeated(Value word) {
    return word * (sizeof(Label) == 1 ? 0x0101010101010101ull : sizeof(Label) == 2 ? 0x0001000100010001ull : sizeof(Label) == 4 ? 0x0000000100000001ull : 1ull);
}
DEVICE bool same_bits(const Sixteen& unit, u64 all) { return ((unit.halves[0] ^ all) | (unit.halves[1] ^ all)) == 0; }
template <class Unit> DEVICE bool same_bits(const Unit& unit, u64 all) { return unit == Unit(all); }

// True if a cell of the unit is another than `word`, a key.
template <class Unit> DEVICE bool unlike(const Unit& unit, Value word, u64 all) {
    if constexpr (!LABEL_IS_FLOAT) return !same_bits(unit, all);
    union {
        Unit unit;
        Label cells[CELLS<Unit>];
    } loaded{unit};
    bool differs = false;
#pragma unroll
    for (u32 i = 0; i < CELLS<Unit>; i++) differs = differs || key(word_of(loaded.cells[i])) != word;
    return differs;
}

// The address of a cell.
DEVICE u64 address_of(const FieldArgs& args, const Coords& cell) { return args.cells + linear(args.lies, cell) * sizeof(Label); }

// Where region `at` of a level begins on an axis.
DEVICE u32 begins(const RunArgs& run, const LaunchArgs& launch, u32 j, u32 at) {
    return launch.side[j] != 0 ? at * launch.side[j] : bound(at, run.size[j], launch.grid[j]);
}

template <class Unit> DEVICE void look_at_columns(const RunArgs& run, const PyramidArgs& launch, const FieldArgs& args) {
    const u32 from = begins(run, launch, 0, launch.corner[0]), end = begins(run, launch, 0, launch.corner[0] + launch.extent[0]);
    const u32 columns = (end - from) / CELLS<Unit>;
    u64 all = columns;
#pragma unroll
    for (u32 j = 1; j < DIM; j++) all *= launch.extent[j];
    const u64 stride = u64(args.lies[0]) * sizeof(Label);
    u64 looked = 0;
#pragma unroll 1
    for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < all; i += u64(gridDim.x) * BLOCK) {
        u64 rest = i / columns;
        const u32 x = from + u32(i - rest * columns) * CELLS<Unit>;
        Coords at;
        at[0] = launch.side[0] != 0 ? x / launch.side[0] : u32(((u64(x) + 1) * launch.grid[0] - 1) / run.size[0]);
#pragma unroll
        for (u32 j = 1; j < DIM; j++) {
            at[j] = launch.corner[j] + u32(rest % launch.extent[j]);
            rest /= launch.extent[j];
        }
        const Region region = region_at(run, launch, at);
        const Label some = label(args, region.corner);
        const Value word = key(word_of(some));
        const u64 word_repeated = repeated(word);
        const u32 rows = DIM > 1 ? region.extent[1 % DIM] : 1;
        u64 planes = 1;
#pragma unroll
        for (u32 j = 2; j < DIM; j++) planes *= region.extent[j];
        Coords cell = region.corner;
        cell[0] = x;
        bool differs = false;
#pragma unroll 1
        for (u64 plane = 0; plane < planes && !differs; plane++) {
            u64 left = plane;
#pragma unroll
            for (u32 j = 2; j < DIM; j++) {
                cell[j] = region.corner[j] + u32(left % region.extent[j]);
                left /= region.extent[j];
            }
            const u64 row = address_of(args, cell);
#pragma unroll 8
            for (u32 y = 0; y < rows; y++) differs |= unlike(*(const Unit*)(row + y * stride), word, word_repeated);
            looked += rows;
        }
        const u64 entry = launch.map_first + linear(launch.grid, at);
        // It was 0; whoever sees a difference writes the same.
        if (differs) ((u8*)args.mixed)[entry] = 1;
        if (x == region.corner[0]) ((Label*)args.values)[entry] = some;
    }
    const u64 sum = warp_sum(looked * CELLS<Unit>);
    if (lane() == 0 && sum > 0) count(launch.tallies, TALLY_EXPLORED, sum);
}

template <class Unit> DEVICE void look(const RunArgs& run, const PyramidArgs& launch, const FieldArgs& args) {
    if constexpr (CELLS<Unit> > 0) look_at_columns<Unit>(run, launch, args);
}

KERNEL(pyramid_cells, PyramidArgs) {
    switch (launch.width) {
    case 16: return look<Sixteen>(run, launch, args);
    case 8: return look<u64>(run, launch, args);
    case 4: return look<u32>(run, launch, args);
    case 2: return look<u16>(run, launch, args);
    default: return look<u8>(run, launch, args);
    }
}

KERNEL(pyramid_merge, PyramidArgs) {
    u64 all = 1;
    u32 below[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        all *= launch.extent[j];
        below[j] = launch.grid[j] * split(j);
    }
    const u64 first_below = launch.map_first + level_regions(launch.grid);
    u8* const mixed = (u8*)args.mixed;
    Label* const values = (Label*)args.values;
#pragma unroll 1
    for (u64 i = u64(blockIdx.x) * BLOCK + threadIdx.x; i < all; i += u64(gridDim.x) * BLOCK) {
        u64 rest = i;
        Coords at;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            at[j] = launch.corner[j] + u32(rest % launch.extent[j]);
            rest /= launch.extent[j];
        }
        Label some{};
        bool differs = false;
#pragma unroll 1
        for (u32 child = 0; child < CHILDREN && !differs; child++) {
            u32 digits = child;
            Coords place;
#pragma unroll
            for (u32 j = 0; j < DIM; j++) {
                place[j] = at[j] * split(j) + digits % split(j);
                digits /= split(j);
            }
            const u64 entry = first_below + linear(below, place);
            const Label value = values[entry];
            if (child == 0) some = value;
            differs = mixed[entry] != 0 || key(word_of(value)) != key(word_of(some));
        }
        const u64 entry = launch.map_first + linear(launch.grid, at);
        mixed[entry] = differs;
        values[entry] = some;
    }
}

// What becomes of a region of the launch's level, and its entry in the pyramid: absent is what lies in a region that is not divided.
DEVICE u32 state_of(const PyramidListArgs& launch, const FieldArgs& args, const Coords& coords, u64& entry) {
    const u8* const mixed = (const u8*)args.mixed;
    entry = launch.map_first + linear(launch.grid, coords);
    if (launch.level > launch.root_level) {
        u32 above[DIM];
        Coords parent;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            above[j] = launch.grid[j] / split(j);
            parent[j] = coords[j] / split(j);
        }
        if (!mixed[launch.map_first - level_regions(above) + linear(above, parent)]) return MAP_ABSENT;
    }
    return mixed[entry] ? MAP_MIXED : MAP_UNIFORM;
}

// A piece of the curve is `rounds` rounds of the block's threads.
KERNEL(list_rank, PyramidListArgs) {
    const u64 piece = launch.first + blockIdx.x;
    Found found;
    u64 mine = 0; // terminal regions, and leaves among them in the low half
#pragma unroll 1
    for (u32 i = 0; i < launch.rounds; i++) {
        const u64 index = (piece * launch.rounds + i) * BLOCK + threadIdx.x;
        if (index >= launch.regions) break;
        const Coords coords = olt_root(launch, u32(index)).coords;
        u64 entry;
        const u32 state = state_of(launch, args, coords, entry);
        if (state == MAP_ABSENT) continue;
        const u64 cells = region_at(run, launch, coords).volume();
        if (state == MAP_UNIFORM) {
            found.uniform(cells);
            found.proven++;
        } else {
            found.mixed(cells, launch.last != 0);
        }
        if (state == MAP_UNIFORM || launch.last != 0) mine += (1ull << 32) + (state == MAP_MIXED);
    }
    __syncwarp();
    found.settle(launch.tallies);
    const u64 sum = warp_sum(mine);
    if (lane() == 0 && sum > 0) atomicAdd((u64*)launch.ranks + piece, sum);
}

// The lists, from entry `listed` on: codes, words of uniform regions, and the first cells of leaves' bricks.
KERNEL(list_place, PyramidListArgs) {
    __shared__ u64 before[WARPS];
    const u64 piece = launch.first + blockIdx.x;
    const u64* const ranks = (const u64*)launch.ranks;
    u64 base = 0;
    for (u64 i = threadIdx.x; i < piece; i += BLOCK) base += ranks[i];
    base = warp_sum(base);
    if (lane() == 0) before[warp()] = base;
    __syncthreads();
    base = 0;
    for (u32 w = 0; w < WARPS; w++) base += before[w];
    const u32 lower = (1u << lane()) - 1;
#pragma unroll 1
    for (u32 i = 0; i < launch.rounds; i++) {
        const u64 index = (piece * launch.rounds + i) * BLOCK + threadIdx.x;
        u32 state = MAP_ABSENT;
        u64 entry = 0;
        Code code = 0;
        if (index < launch.regions) {
            const Entry root = olt_root(launch, u32(index));
            code = root.code;
            state = state_of(launch, args, root.coords, entry);
            if (state == MAP_MIXED && launch.last == 0) state = MAP_ABSENT;
        }
        const u32 terminal = __ballot_sync(0xffffffffu, state != MAP_ABSENT), leaves = __ballot_sync(0xffffffffu, state == MAP_MIXED);
        __syncthreads();
        if (lane() == 0) before[warp()] = (u64(__popc(terminal)) << 32) + __popc(leaves);
        __syncthreads();
        u64 slot = base + (u64(__popc(terminal & lower)) << 32) + __popc(leaves & lower);
        for (u32 w = 0; w < WARPS; w++) {
            if (w < warp()) slot += before[w];
            base += before[w];
        }
        if (state == MAP_ABSENT) continue;
        const u64 at = launch.listed + (slot >> 32);
        ((u64*)launch.list_codes)[at] = code;
        ((CellValue*)launch.list_words)[at] = state == MAP_UNIFORM ? CellValue(key(word_of(((const Label*)args.values)[entry]))) : CellValue(0);
        ((u64*)launch.list_places)[at] = state == MAP_MIXED ? u64(u32(slot)) * launch.brick_cells : ~u64(0);
    }
}

// Copies the cells of a leaf as they follow each other in its brick, by `lanes` threads.
template <class Unit> DEVICE u64 copy_leaf(const PyramidListArgs& launch, const FieldArgs& args, const Region& region, u64 place, u32 thread) {
    if constexpr (CELLS<Unit> == 0) return 0;
    else {
        const u32 columns = region.extent[0] / CELLS<Unit>;
        const u32 units = u32(region.volume() / CELLS<Unit>);
        Unit* const to = (Unit*)(launch.bricks + place * sizeof(CellValue));
#pragma unroll 1
        for (u32 i = thread; i < units; i += launch.lanes) {
            u32 rest = i / columns;
            Coords cell = region.corner;
            cell[0] += (i - rest * columns) * CELLS<Unit>;
#pragma unroll
            for (u32 j = 1; j < DIM; j++) {
                cell[j] += rest % region.extent[j];
                rest /= region.extent[j];
            }
            to[i] = *(const Unit*)address_of(args, cell);
        }
        return region.volume();
    }
}

// `regions` entries of the lists from `listed` on, of the last level.
KERNEL(list_bricks, PyramidListArgs) {
    const u64 thread = (launch.first + blockIdx.x) * BLOCK + threadIdx.x, entry = thread / launch.lanes;
    u64 cells = 0;
    const u64 place = entry < launch.regions ? ((const u64*)launch.list_places)[launch.listed + entry] : ~u64(0);
    if (place != ~u64(0)) {
        const Region region = region_at(run, launch, curve_coords(launch, Code(((const u64*)launch.list_codes)[launch.listed + entry])));
        const u32 mine = u32(thread % launch.lanes);
        switch (launch.width) {
        case 16: cells = copy_leaf<Sixteen>(launch, args, region, place, mine); break;
        case 8: cells = copy_leaf<u64>(launch, args, region, place, mine); break;
        case 4: cells = copy_leaf<u32>(launch, args, region, place, mine); break;
        case 2: cells = copy_leaf<u16>(launch, args, region, place, mine); break;
        default: cells = copy_leaf<u8>(launch, args, region, place, mine);
        }
        if (mine != 0) cells = 0;
    }
    const u64 sum = warp_sum(cells);
    if (lane() == 0 && sum > 0) count(launch.tallies, TALLY_EVALUATED, sum);
}
