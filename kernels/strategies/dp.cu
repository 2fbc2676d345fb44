// Dynamic parallelism: work is launched from the device. Nothing is lost when a launch finds no credit, or fails: its
// families go to an overflow table, which the host's next round takes up, and if that is full the block descends into
// them itself.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

#include "explore.cuh"
#include "walk.cuh"
#include "settle.cuh"
#include "emit.cuh"
#include "listed.cuh"

#include "dp/credit.cuh"

#include "dp/examine.cuh"

#include "dp/region.cuh"

#include "dp/block.cuh"

#include "dp/tail.cuh"

// The cells of the leaves, one block per brick.
ENTRY(dp_bricks, const DpArgs*, dp, u64, first, u64, level) {
    const u64 brick = first + blockIdx.x;
    const ExploreArgs& launch = level_of(*dp, u32(level));
    const RunArgs& run = *(const RunArgs*)dp->run;
    Listener listener(dp->stop);
    const Region region = region_at(run, launch, curve_coords(launch, ((const Code*)dp->leaf_codes)[brick]));
    CellValue* cells = (CellValue*)launch.bricks + brick * launch.brick_cells;
    settle(run, *(const FieldArgs*)dp->args, launch, region, true, 0, cells, {0, 1}, listener);
}

// Sorts the list of terminal regions, which are as they were found, into parts, whose lengths are known: a thread per region.
ENTRY(dp_sort, const DpArgs*, dp, u64, first, u64, regions) {
    const u64 number = (first + blockIdx.x) * BLOCK + threadIdx.x;
    if (number >= regions) return;
    const u32 found = ((const u32*)dp->terminal_levels)[number];
    const bool leaf = (found & LEAF) != 0;
    const ExploreArgs& launch = level_of(*dp, found & ~LEAF);
    const u32 place = atomicAdd((u32*)launch.counters + (leaf ? COUNTER_LEAVES : COUNTER_FILLS), 1u);
    ((u32*)(leaf ? launch.leaves : launch.fills))[place] = u32(number);
}

// Makes items for a balancer of the sorted regions of some parts: a thread each.
ENTRY(dp_items, const DpArgs*, dp, u64, first, u64, parts) {
    const u64 item = (first + blockIdx.x) * BLOCK + threadIdx.x;
    const ExploreArgs* part = (const ExploreArgs*)parts;
    if (item >= part->listed) return;
    const RunArgs& run = *(const RunArgs*)dp->run;
    const Listed mine = listed(part, item);
    const u32 number = mine.number();
    const Region region = region_at(run, mine.part, curve_coords(mine.part, ((const Code*)dp->terminal_codes)[number]));
    put_item(run, mine.part, item, region, ((const Value*)dp->terminal_values)[number]);
}
