// Proofs that several threads share: those of a field whose verdict of a region is that of its parts together, since none is ever
// unknown (PROOFS_ADD_UP). Such proofs go through the rows of a region along axis 0, and rows of a large one are many.
#pragma once

// Rows that a thread goes through between two votes.
constexpr u32 ROWS_AT_ONCE = 8;

// Who shares a proof: the threads of a block, or the lanes of a warp.
struct ByBlock {
    static constexpr u32 THREADS = BLOCK;
    static DEVICE u32 number() { return threadIdx.x; }
    static DEVICE bool any(bool value) { return team_any(value); }
    static DEVICE Value first(Value value) { return team_broadcast(value); }
};
struct ByWarp {
    static constexpr u32 THREADS = 32;
    static DEVICE u32 number() { return lane(); }
    static DEVICE bool any(bool value) { return __any_sync(0xffffffffu, value); }
    static DEVICE Value first(Value value) { return __shfl_sync(0xffffffffu, value, 0); }
};

// Rows of a region.
DEVICE u64 rows_of(const Region& region) {
    u64 rows = 1;
#pragma unroll
    for (u32 j = 1; j < DIM; j++) rows *= region.extent[j];
    return rows;
}

// What is proven of a region; all threads of the team ask for the same one, and have the same answer.
template <class Team> DEVICE Verdict prove_together(const FieldArgs& args, const Region& region, Value& value, Listener& listener) {
    const u64 rows = rows_of(region), some = rows / ROWS_AT_ONCE;
    u32 left = Team::THREADS;
    if (some > left) left = some < 1u << 20 ? u32(some) : 1u << 20;
    // Into how many the region is cut on each axis, the slowest first.
    Coords cuts;
    u32 parts = 1;
#pragma unroll
    for (u32 i = 0; i + 1 < DIM; i++) {
        const u32 j = DIM - 1 - i;
        cuts[j] = region.extent[j] < left ? region.extent[j] : left;
        left /= cuts[j];
        parts *= cuts[j];
    }
    // A round is spread over the region, so that a second label shows early.
    const u32 rounds = ceil_div(parts, Team::THREADS);
#pragma unroll 1
    for (u32 round = 0; round < rounds; round++) {
        u32 rest = Team::number() * rounds + round;
        const bool mine = rest < parts;
        Region part = region;
#pragma unroll
        for (u32 j = 1; j < DIM; j++) {
            const u32 place = rest % cuts[j], each = region.extent[j] / cuts[j], more = region.extent[j] % cuts[j];
            rest /= cuts[j];
            part.corner[j] += place * each + (place < more ? place : more);
            part.extent[j] = each + (place < more);
        }
        Value found = 0;
        bool differs = mine && prove(args, part, found) != UNIFORM;
        if (round == 0) value = Team::first(found);
        differs = differs || (mine && found != value);
        if (Team::any(listener.ends(round) || differs)) return MIXED;
    }
    return UNIFORM;
}
