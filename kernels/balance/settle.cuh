// The body that settles terminal regions: a unit is a cell of a leaf, a cell of a uniform region, or 16 bytes of one.
//
// Items are uniform regions, or leaves (SETTLES_LEAVES). They have as many units as the largest region of their level, so that
// the host knows their sizes without counting; units beyond a smaller one's cells are nobody's.
#pragma once

#include "balance/regions.cuh"

// The place of a leaf's cell: where sides allow it a warp has 8 x 4 cells, whose labels are more alike than those of a row.
DEVICE Coords leaf_offset(const Region& region, u32 rank) {
    constexpr u32 Y = DIM > 1 ? 1 : 0;
    if (DIM == 1 || region.extent[0] % 8 != 0 || region.extent[Y] % 4 != 0) return region.offset(rank);
    Region tiles = region;
    tiles.extent[0] /= 8;
    tiles.extent[Y] /= 4;
    Coords offset = tiles.offset(rank / 32);
    offset[0] = offset[0] * 8 + rank % 8;
    offset[Y] = offset[Y] * 4 + rank / 8 % 4;
    return offset;
}

struct Body {
    const RegionItem* items;
    const FieldArgs& field;
    RunArgs run;
    u64 tallies;
    u32 heard; // of leaves what the host had said one unit ago: nobody waits for the answer
    Tally evaluated;

    DEVICE explicit Body(const BalanceArgs& args)
        : items((const RegionItem*)args.regions), field(*(const FieldArgs*)args.field), run(*(const RunArgs*)args.run),
          tallies(args.tallies), heard(gridDim.x >= CROWD ? stop_word(run.stop) : 0) {}

    DEVICE void operator()(u32 item, u32 rank, u64) {
        const RegionItem mine = items[item];
        if (rank >= mine.region.volume()) return;
#if SETTLES_LEAVES
        if (heard != 0) return;
        heard = stop_word(run.stop);
        const Coords cell = mine.region.cell(leaf_offset(mine.region, rank));
        const Value found = value_at(field, cell);
        evaluated.add(found, true);
        store(run, cell, stored(found));
#else
        if (rank % FILL_LISTEN == 0 && stop_word(run.stop) != 0) heard = 1;
        if (heard != 0) return;
        const Coords cell = mine.region.cell(mine.region.offset(rank));
        if (mine.wide) ((Quad*)run.array)[linear(wide_rows(run).c, cell)] = quad_of(stored(mine.value));
        else ((CellValue*)run.array)[linear(run.extent, cell)] = stored(mine.value);
#endif
    }

    DEVICE void end() {
        if (SETTLES_LEAVES) settle_tally(tallies, evaluated, TALLY_EVALUATED);
    }
};
