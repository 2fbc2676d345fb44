// What the host is given of a run, compiled once for all of them: bricks in the order of a list, and lists of what maps say.
#include "ground.cuh"

// Bricks: so many lanes copy each, in units as wide as all bricks allow.

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

// Fates: a lane looks at sixteen regions. Uniform ones are listed from the front on, others from the back.
constexpr u32 FATES = 16;

// Places in a list for `mine` records of each lane: where those of this lane begin.
DEVICE u64 places(u64* counter, u32 mine) {
    u32 before = mine;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        const u32 more = __shfl_up_sync(0xffffffffu, before, distance);
        if (lane() >= distance) before += more;
    }
    u64 start = 0;
    if (lane() == 31 && before > 0) start = atomicAdd(counter, u64(before));
    return __shfl_sync(0xffffffffu, start, 31) + before - mine;
}

// The fates of the sixteen from `begin` on, counted from an address that sixteen divides; 0, which is absent, where `args` has none.
DEVICE Sixteen fates(const FatesArgs& args, u64 begin) {
    const u64 before = args.fates % FATES, end = before + args.regions;
    const u8* const from = (const u8*)(args.fates - before);
    if (begin >= before && begin + FATES <= end) return *(const Sixteen*)(from + begin);
    Sixteen some{};
    for (u64 at = begin < before ? before : begin; at < end && at < begin + FATES; at++)
        some.halves[(at - begin) / 8] |= u64(from[at]) << (at - begin) % 8 * 8;
    return some;
}

template <class Word> DEVICE void list(const FatesArgs& args) {
    const u64 begin = (u64(blockIdx.x) * BLOCK + threadIdx.x) * FATES;
    const Sixteen states = fates(args, begin);
    u32 uniform = 0, others = 0; // a bit for each of the sixteen
    if ((states.halves[0] | states.halves[1]) != 0) {
#pragma unroll
        for (u32 i = 0; i < FATES; i++) {
            const u32 state = u8(states.halves[i / 8] >> i % 8 * 8);
            uniform |= u32(state == MAP_UNIFORM) << i;
            others |= u32(args.others && state != MAP_UNIFORM && state != MAP_ABSENT) << i;
        }
    }
    if (!__any_sync(0xffffffffu, (uniform | others) != 0)) return;
    u64* const counters = (u64*)args.counters;
    u64 front = places(counters, __popc(uniform)), back = places(counters + 1, __popc(others));
    Word* const records = (Word*)args.records;
    for (u32 left = uniform | others; left != 0; left &= left - 1) {
        const u32 i = __ffs(int(left)) - 1;
        const bool is_uniform = uniform >> i & 1;
        const u64 at = is_uniform ? front++ : back++, region = begin + i - args.fates % FATES;
        if (at >= args.room) continue; // the host sees it by the counters
        Word* const record = records + 2 * (is_uniform ? at : args.room - 1 - at);
        record[0] = Word(args.first + region);
        record[1] = is_uniform ? ((const Word*)args.values)[region] : Word(0);
    }
}

ENTRY(list_fates, FatesArgs, args, u64, unused, u64, unused_too) {
    if (args.width == 8) list<u64>(args);
    else list<u32>(args);
}
