// Streams: ASK where proofs alone decide (`--scheme stream`). Proofs come first, a region per thread; the array is then written once, in
// long rows, by warps that take a tile each.
//
//   stream_prove   a level: a thread per region that is asked for, or a warp where proofs can be shared and regions are large; or a block,
//                  where proofs leave short tapes: of more threads than other kernels have, on a level with few regions
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
#include "stream/found.cuh"
#include "stream/map.cuh"
#include "stream/list.cuh"
#include "stream/cells.cuh"
#include "stream/proof.cuh"
#ifdef PROOFS_ADD_UP
#include "together.cuh"
#endif
#include "stream/tiler.cuh"
#include "stream/tiles.cuh"

KERNEL_OF(TEAM, stream_prove, StreamArgs) {
    __shared__ Listing listings[TEAM / 32];
    Listener listener(run.stop);
    Lister lister{launch, listings[warp()]};
    Found found;
    const u64 all = asked(launch);
    u32 step = 0;
#ifdef PROVES_BY_BLOCKS
#pragma unroll 1
    for (u64 i = blockIdx.x; i < all && !team_any(listener.ends(step)); i += gridDim.x, step++) {
        const Entry entry = olt_read(launch, u32(i));
        const Region region = region_at(run, launch, entry.coords);
        Value value = 0;
        const Verdict verdict = prove_by_block(args, region, value);
        if (warp() != 0) continue;
        Fate fate{MAP_ABSENT, 0};
        if (lane() == 0) {
            fate = fate_of(verdict, value, region, launch.last != 0, found);
            map_write(launch, entry.coords, fate);
        }
        __syncwarp();
        lister.add(fate.state == MAP_MIXED, entry.code);
    }
    lister.finish();
    found.settle(launch.tallies);
#else
#ifdef PROOFS_ADD_UP
    if (launch.lanes == 32) {
#pragma unroll 1
        for (u64 i = u64(blockIdx.x) * WARPS + warp(); i < all && !listener.ends(step); i += u64(gridDim.x) * WARPS, step++) {
            const Entry entry = olt_read(launch, u32(i));
            const Region region = region_at(run, launch, entry.coords);
            Value value = 0;
            const Verdict verdict = prove_together<ByWarp>(args, region, value, listener);
            Fate fate{MAP_ABSENT, 0};
            if (lane() == 0) {
                fate = fate_of(verdict, value, region, launch.last != 0, found);
                map_write(launch, entry.coords, fate);
            }
            __syncwarp();
            lister.add(fate.state == MAP_MIXED, entry.code);
        }
        lister.finish();
        found.settle(launch.tallies);
        return;
    }
#endif
#pragma unroll 1
    for (u64 base = (u64(blockIdx.x) * WARPS + warp()) * 32; base < all && !listener.ends(step); base += u64(gridDim.x) * BLOCK, step++) {
        Entry entry{};
        Fate fate{MAP_ABSENT, 0};
        if (base + lane() < all) {
            entry = olt_read(launch, u32(base + lane()));
            fate = proven(args, region_at(run, launch, entry.coords), launch.last != 0, found);
            map_write(launch, entry.coords, fate);
        }
        __syncwarp();
        lister.add(fate.state == MAP_MIXED, entry.code);
    }
    lister.finish();
    found.settle(launch.tallies);
#endif
}
