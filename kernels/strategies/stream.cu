// Streams: ASK where proofs alone decide, without lists (`--scheme stream`). Proofs come first, a region per thread; the array is
// then written once, in long rows, by warps that take a tile each.
//
//   stream_roots   marks the roots of a run that does not start from all regions of its first level
//   stream_prove   a level: a thread per region of its lattice, which does something if the parent was mixed
//   stream_tiles   the array: a warp per tile. Regions of the last level that are smaller than a warp are proven here, 32 at a time;
//                  so are cells of leaves evaluated, wherever they lie
//
// The regions, and what becomes of them, are those of ASK under the same plan.
#include "prelude.cuh"

#include "team.cuh"

#include "olt.cuh"
#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

#include "quad.cuh"
#include "stream/tile.cuh"
#include "stream/map.cuh"
#include "stream/cells.cuh"
#include "stream/proof.cuh"
#include "stream/tiler.cuh"
#include "stream/tiles.cuh"

KERNEL(stream_prove) {
    Listener listener(run.stop);
    const u64 index = (launch.first + blockIdx.x) * BLOCK + threadIdx.x;
    if (listener.ends(0)) return;
    Found found;
    if (index < launch.regions) {
        Coords coords;
        Fate fate = inherited(launch, u32(index), coords);
        if (fate.state == MAP_MIXED) fate = proven(args, region_at(run, launch, coords), launch.last != 0, found);
        const u64 place = linear(launch.grid, coords);
        ((u8*)launch.mixed)[place] = u8(fate.state);
        ((Value*)launch.values)[place] = fate.value;
    }
    __syncwarp();
    found.settle(launch.tallies);
}

