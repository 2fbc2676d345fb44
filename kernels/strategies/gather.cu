// Bricks in the order of a list: so many lanes copy each, in units as wide as all bricks allow. Compiled once for all runs.
#include "ground.cuh"

// Units of a brick.
struct alignas(16) Sixteen {
    u64 halves[2];
};

// `thread` copies its share of a brick. Loads follow each other in bricks, stores in the list.
template <class Unit> DEVICE void copy_units(const GatherArgs& args, u64 thread) {
    const u64 place = thread / args.lanes;
    if (place >= args.bricks) return;
    const u64 number = ((const u32*)args.numbers)[place];
    // Bricks of one size need no list of their starts.
    const u32* const starts = (const u32*)args.starts;
    const u64 start = starts ? starts[place] : place * args.units;
    const u64 units = starts ? starts[place + 1] - start : args.units;
    const Unit* const from = (const Unit*)args.from + number * args.units;
    Unit* const to = (Unit*)args.to + start;
    for (u64 i = thread % args.lanes; i < units; i += args.lanes) to[i] = from[i];
}

ENTRY(gather, GatherArgs, args, u64, unused, u64, unused_too) {
    const u64 thread = u64(blockIdx.x) * BLOCK + threadIdx.x;
    switch (args.width) {
    case 16: return copy_units<Sixteen>(args, thread);
    case 8: return copy_units<u64>(args, thread);
    case 4: return copy_units<u32>(args, thread);
    case 2: return copy_units<u16>(args, thread);
    default: return copy_units<u8>(args, thread);
    }
}
