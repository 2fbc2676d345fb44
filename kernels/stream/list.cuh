// Lists: the offset lookup table of every level (olt.cuh), with the codes of the regions that are mixed. Nobody looks at what is settled.
// And tickets: numbers that warps take, each once, since some take a hundred times as long as others.
#pragma once

// The number of a TICKET_SLICE or TICKET_TILE that nobody has taken, for lane 0.
DEVICE u64 ticket(const LaunchArgs& launch, u32 kind) {
    return lane() == 0 ? atomicAdd((u64*)launch.tallies + kind * TALLY_COLUMNS + TALLY_TICKET, u64(1)) : 0;
}

// How many are listed by the level with these tallies.
DEVICE u64 listed(u64 tallies) { return ((const u64*)tallies)[TALLY_LISTED]; }

// The regions that a level asks for: roots, or children of what is listed above. Families follow one another.
DEVICE u64 asked(const StreamArgs& launch) { return launch.above == 0 ? launch.regions : listed(launch.above) * CHILDREN; }

// The coordinates, on the level above, of the region that heads a family.
DEVICE Coords family_coords(const LaunchArgs& launch, u64 family) {
    Coords coords = curve_child(launch, ((const Code*)launch.families)[family], 0).coords;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) coords[j] /= split(j);
    return coords;
}

// What a warp is about to list: it asks for places when there are as many as it has lanes.
struct Listing {
    Code entries[64];
};

struct Lister {
    const LaunchArgs& launch;
    Listing& listing;
    u32 waiting = 0;

    // The regions of the lanes `mine`, which are mixed. By whole warps.
    DEVICE void add(bool mine, const Code& code) {
        // Of the last level tiles find what is mixed in the map.
        if (launch.next == 0) return;
        const u32 votes = __ballot_sync(WHOLE_WARP, mine);
        if (mine) listing.entries[waiting + __popc(votes & ((1u << lane()) - 1))] = code;
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
        if (lane() < many) ((Code*)launch.next)[first + lane()] = listing.entries[waiting + lane()];
        __syncwarp();
    }
};
