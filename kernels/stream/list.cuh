// Lists: of every level the regions that are mixed, so that nobody looks at what is settled. And tickets: numbers that warps take, each
// once, since some take a hundred times as long as others.
#pragma once

// The number of a TICKET_SLICE or TICKET_TILE that nobody has taken, for lane 0.
DEVICE u64 ticket(const LaunchArgs& launch, u32 kind) {
    return lane() == 0 ? atomicAdd((u64*)launch.tallies + kind * TALLY_COLUMNS + TALLY_TICKET, u64(1)) : 0;
}

// How many are listed by the level with these tallies.
DEVICE u64 listed(u64 tallies) { return ((const u64*)tallies)[TALLY_LISTED]; }

// The regions that a level asks for: roots, or children of what is listed above. Families follow one another.
DEVICE u64 asked(const LaunchArgs& launch) { return launch.above == 0 ? launch.regions : listed(launch.above) * CHILDREN; }

DEVICE Coords asked_place(const LaunchArgs& launch, u64 number) {
    if (launch.above == 0) return olt_root(launch, u32(number)).coords;
    u32 child = u32(number % CHILDREN), grid[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) grid[j] = launch.grid[j] / split(j);
    Coords coords = map_place(grid, ((const u32*)launch.families)[number / CHILDREN]);
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        coords[j] = coords[j] * split(j) + child % split(j);
        child /= split(j);
    }
    return coords;
}

// What a warp is about to list: it asks for places when there are as many as it has lanes.
struct Listing {
    u32 entries[64];
};

struct Lister {
    const LaunchArgs& launch;
    Listing& listing;
    u32 waiting = 0;

    // The regions of the lanes `mine`, which are mixed. By whole warps.
    DEVICE void add(bool mine, const Coords& coords) {
        // Of the last level tiles find what is mixed in the map.
        if (launch.next == 0) return;
        const u32 votes = __ballot_sync(WHOLE_WARP, mine);
        if (mine) listing.entries[waiting + __popc(votes & ((1u << lane()) - 1))] = u32(linear(launch.grid, coords));
        waiting += __popc(votes);
        __syncwarp();
        if (waiting >= 32) send(32);
    }
    DEVICE void finish() { send(waiting); }

  private:
    // The last so many.
    DEVICE void send(u32 many) {
        if (many == 0) return;
        waiting -= many;
        u64 first = 0;
        if (lane() == 0) first = atomicAdd((u64*)launch.tallies + TALLY_LISTED, u64(many));
        first = __shfl_sync(WHOLE_WARP, first, 0);
        if (lane() < many) ((u32*)launch.next)[first + lane()] = listing.entries[waiting + lane()];
        __syncwarp();
    }
};
