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

#include "dp/credit.cuh"

#include "dp/examine.cuh"

#include "dp/region.cuh"

#include "dp/block.cuh"

#include "dp/tail.cuh"

// The cells of the leaves, one block per brick.
ENTRY(dp_bricks, const DpArgs*, dp, u64, first, u64, level) {
    const u64 brick = first + blockIdx.x;
    const LaunchArgs& launch = level_of(*dp, u32(level));
    const RunArgs& run = *(const RunArgs*)dp->run;
    const Region region = region_at(run, launch, curve_coords(launch, ((const Code*)dp->leaf_codes)[brick]));
    Tally evaluated;
    evaluate(run, *(const FieldArgs*)dp->args, region, (CellValue*)launch.bricks + brick * launch.brick_cells, 0, 1,
             evaluated);
    settle_tally(launch, evaluated, TALLY_EVALUATED);
}
