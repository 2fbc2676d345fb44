// Where a verdict leads: a mixed region is divided while there are levels, a terminal one is counted, and settled on the spot or
// later (`--pass`).
#pragma once

// `lead` is what the strategy does with it: `divide()` takes a region to divide; `terminal(outcome, settle)` one that is not, and
// may change what this block does about it where `Lead::LAUNCHES`. One thread calls them, of the first block that shares the
// region. True for everyone if the region is divided.
template <class Lead>
DEVICE bool emit(const RunArgs& run, const FieldArgs& args, const ExploreArgs& launch, const Region& region,
                 const Outcome& outcome, const Share& share, Listener& listener, const Lead& lead) {
    const bool mixed = outcome.mixed, first = threadIdx.x == 0 && share.piece == 0;
    if (mixed && !launch.last) {
        if (first) lead.divide();
        return true;
    }
    u32 what = mixed ? launch.leaf : launch.fill;
    if (first) {
        count(launch.tallies, mixed ? TALLY_LEAVES : TALLY_FILLED, 1);
        count(launch.tallies, mixed ? TALLY_LEAF_CELLS : TALLY_FILLED_CELLS, region.volume());
        if (outcome.proven) count(launch.tallies, TALLY_PROVEN, 1);
        lead.terminal(outcome, what);
    }
    if (Lead::LAUNCHES) {
        what = team_broadcast(what);
        team_sync();
    }
    if (what == SETTLE_IN_PLACE) settle(run, args, launch, region, mixed, outcome.value, nullptr, share, listener);
    return false;
}
