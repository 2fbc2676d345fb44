// Is a region uniform? Twin of src/cpu/explore.rs and src/cpu/visit.rs.
//
// The cells that decide it (RULE_HEADER says which) are numbered; a warp takes 32 neighbours at a time, which have
// similar dwells, and the chunks come in bit-reversed order, so that what was seen is spread over the region at every
// moment and a second label shows early. After each round of one chunk per warp the block stops if two cells differed.
// The set of cells does not depend on the order, so neither does the decision.
//
// A run that is to end gets any answer, in as many rounds as its warps need to hear of it: it has no result.
//
// Where proofs are asked for, a field whose header defines PROVES is asked first: `Verdict prove(args, box, value)`, where
// `value` is the word of a uniform box. Twin of `RuleKind::verdict` in src/rule/kind.rs.
#pragma once

#include RULE_HEADER
#ifdef PROOFS_ADD_UP
#include "together.cuh"
#endif

// The cell number `index` of the visit.
DEVICE Coords visited(const Region& box, Index index) {
    return box.cell(RULE_FACES ? box.surface_offset(index) : box.offset(index));
}

DEVICE Outcome explore(const RunArgs& run, const FieldArgs& args, const Region& region, Listener& listener, Tally& tally) {
    const Region box = deciding(run, region);
#ifdef PROVES
    if (ASKS_PROOFS) {
        Value proven = 0;
#ifdef PROOFS_ADD_UP
        const Verdict verdict = prove_together<ByBlock>(args, box, proven, listener);
#elif defined(PROVES_BY_BLOCKS)
        const Verdict verdict = CERTIFIES ? prove_by_block(args, box, proven) : prove(args, box, proven);
#else
        const Verdict verdict = prove(args, box, proven);
#endif
        if (verdict == UNIFORM) return {key(proven), false, true};
        // Two labels inside are none of the business of a rule that looks at faces.
        if (CERTIFIES || (verdict == MIXED && !RULE_FACES)) return {0, true};
    }
#endif
    const Index cells = RULE_FACES ? box.surface_volume() : box.volume();
    const Index chunks = (cells + 31) / 32;
    const u32 bits = chunks <= 1 ? 0 : sizeof(Index) * 8 - (sizeof(Index) == 8 ? __clzll(chunks - 1) : __clz(u32(chunks - 1)));
    const Index slots = SCATTERED ? Index(1) << bits : chunks;
    Value first = 0;
    bool mixed = false;
#pragma unroll 1
    for (Index round = 0; round < slots; round += WARPS) {
        const bool ends = listener.ends(u32(round / WARPS));
        const Index slot = round + warp();
        Index chunk = slot;
        if (SCATTERED && bits > 0) chunk = sizeof(Index) == 8 ? __brevll(slot) >> (64 - bits) : __brev(u32(slot)) >> (32 - bits);
        bool differs = false;
        Value found = 0;
        const bool busy = !ends && slot < slots && chunk < chunks;
        if (busy) {
            const Index index = chunk * 32 + lane();
            const bool mine = index < cells;
            found = value_at(args, visited(box, mine ? index : cells - 1));
            tally.add(found, mine);
            found = key(found);
        }
        if (round == 0) first = team_broadcast(found);
        differs = ends || (busy && found != first);
        if (team_any(differs)) {
            mixed = true;
            if (SCATTERED || team_any(ends)) break;
        }
    }
    return {first, mixed};
}
