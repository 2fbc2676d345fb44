// A GPU sorts points into cells: it finds the index of each point's cell, sorts the indices by radix, and keeps each index once. These
// kernels are compiled once for all points. Twin of src/field/unsorted_points.rs.
#include "ground.cuh"

constexpr u32 ALL = 0xffffffffu;

// A digit has eight bits: there is a thread for each.
constexpr u32 DIGITS = 256;
static_assert(DIGITS == BLOCK, "a thread for each digit");

// A block takes a tile of points, in rounds.
constexpr u32 ROUNDS = TILE / BLOCK;

DEVICE u64 from_at(const PointsArgs& args, u64 at) { return ((const u64*)args.from)[at]; }

DEVICE u32 digit_of(const PointsArgs& args, u64 index) { return u32(index >> args.digit) % DIGITS; }

// Returns the sum over the threads before this one; `total` is the sum over all threads of the block.
DEVICE u32 before_in_block(u32 mine, u32& total) {
    __shared__ u32 of_warps[WARPS];
    u32 sum = mine;
#pragma unroll
    for (u32 distance = 1; distance < 32; distance *= 2) {
        const u32 more = __shfl_up_sync(ALL, sum, distance);
        if (lane() >= distance) sum += more;
    }
    __syncthreads(); // of the round before
    if (lane() == 31) of_warps[warp()] = sum;
    __syncthreads();
    u32 before = 0;
    total = 0;
#pragma unroll
    for (u32 w = 0; w < WARPS; w++) {
        if (w == warp()) before = total;
        total += of_warps[w];
    }
    return before + sum - mine;
}

// The cell on an axis that holds a coordinate of the window: Domain::cell_on, in the same roundings.
DEVICE u32 cell_on(const PointsArgs& args, u32 j, double x) {
    const double low = args.low[j], pitch = args.pitch[j];
    const u32 last = args.size[j] - 1;
    const double quotient = __ddiv_rn(__dadd_rn(x, -low), pitch);
    const u32 c = quotient < last ? u32(quotient) : quotient >= last ? last : 0; // 0 of no number
    if (__fma_rn(double(c), pitch, low) > x) return c > 0 ? c - 1 : 0;
    return c < last && __fma_rn(double(c + 1), pitch, low) <= x ? c + 1 : c;
}

ENTRY(point_cells, PointsArgs, args, u64, unused, u64, unused_too) {
    const u64 point = u64(blockIdx.x) * BLOCK + threadIdx.x;
    const bool there = point < args.number;
    bool inside = there;
    u64 index = 0;
    if (there) {
        const double* const at = (const double*)args.points + point * args.axes;
        for (u32 j = args.axes; j-- > 0;) {
            const double x = at[j];
            inside = inside && args.low[j] <= x && x <= args.high[j];
            index = index * args.size[j] + (inside ? cell_on(args, j, x) : 0);
        }
        ((u64*)args.to)[point] = inside ? index : args.cells;
    }
    const u32 outside = __ballot_sync(ALL, there && !inside);
    if (lane() == 0 && outside != 0) atomicAdd((u64*)args.found, u64(__popc(outside)));
}

// Points of a tile by their digits.
ENTRY(count_digits, PointsArgs, args, u64, unused, u64, unused_too) {
    __shared__ u32 counts[DIGITS];
    counts[threadIdx.x] = 0;
    __syncthreads();
    const u64 first = u64(blockIdx.x) * TILE;
    for (u32 i = threadIdx.x; i < TILE && first + i < args.number; i += BLOCK)
        atomicAdd(&counts[digit_of(args, from_at(args, first + i))], 1u);
    __syncthreads();
    ((u32*)args.counts)[threadIdx.x * args.tiles + blockIdx.x] = counts[threadIdx.x];
}

// Prefix sums of counts, in their place, by three kernels: each block adds up a piece, one block sums over pieces, and each block sums over the
// counts of its piece.
ENTRY(sum_counts, PointsArgs, args, u64, unused, u64, unused_too) {
    const u64 first = u64(blockIdx.x) * TILE;
    u32 mine = 0, total = 0;
    for (u32 i = threadIdx.x; i < TILE && first + i < args.entries; i += BLOCK) mine += ((const u32*)args.counts)[first + i];
    before_in_block(mine, total);
    if (threadIdx.x == 0) ((u32*)args.sums)[blockIdx.x] = total;
}

ENTRY(sum_sums, PointsArgs, args, u64, unused, u64, unused_too) {
    u32* const sums = (u32*)args.sums;
    const u64 pieces = (args.entries + TILE - 1) / TILE;
    u32 known = 0, total = 0;
    for (u64 first = 0; first < pieces; first += BLOCK) {
        const u64 at = first + threadIdx.x;
        const u32 mine = at < pieces ? sums[at] : 0, before = before_in_block(mine, total);
        if (at < pieces) sums[at] = known + before;
        known += total;
    }
    if (threadIdx.x == 0) ((u64*)args.found)[1] = known;
}

ENTRY(spread_sums, PointsArgs, args, u64, unused, u64, unused_too) {
    u32* const counts = (u32*)args.counts;
    const u64 first = u64(blockIdx.x) * TILE;
    u32 known = ((const u32*)args.sums)[blockIdx.x], total = 0;
    for (u32 round = 0; round < ROUNDS && first + round * BLOCK < args.entries; round++) {
        const u64 at = first + round * BLOCK + threadIdx.x;
        const u32 mine = at < args.entries ? counts[at] : 0, before = before_in_block(mine, total);
        if (at < args.entries) counts[at] = known + before;
        known += total;
    }
}

// The lanes that are there and have this one's digit.
DEVICE u32 peers(bool there, u32 digit) {
    u32 mask = __ballot_sync(ALL, there);
#pragma unroll
    for (u32 bit = 0; bit < 8; bit++) {
        const bool set = digit >> bit & 1;
        const u32 others = __ballot_sync(ALL, set);
        mask &= set ? others : ~others;
    }
    return mask;
}

// Moves each index to the places of its digit. A warp takes indices that follow each other, and warps take them in turn, so that indices
// with equal digits keep their order.
ENTRY(scatter, PointsArgs, args, u64, unused, u64, unused_too) {
    __shared__ u32 places[WARPS][DIGITS];
    const u64 first = u64(blockIdx.x) * TILE + warp() * (TILE / WARPS);
    u32* const mine = places[warp()];
    for (u32 w = 0; w < WARPS; w++) places[w][threadIdx.x] = 0;
    __syncthreads();
    for (u32 round = 0; round < TILE / WARPS / 32; round++) {
        const u64 at = first + round * 32 + lane();
        const bool there = at < args.number;
        const u32 digit = there ? digit_of(args, from_at(args, at)) : 0, same = peers(there, digit);
        if (there && u32(__ffs(int(same))) == lane() + 1) mine[digit] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    u32 place = ((const u32*)args.counts)[threadIdx.x * args.tiles + blockIdx.x];
    for (u32 w = 0; w < WARPS; w++) {
        const u32 count = places[w][threadIdx.x];
        places[w][threadIdx.x] = place;
        place += count;
    }
    __syncthreads();
    for (u32 round = 0; round < TILE / WARPS / 32; round++) {
        const u64 at = first + round * 32 + lane();
        const bool there = at < args.number;
        const u64 index = there ? from_at(args, at) : 0;
        const u32 digit = digit_of(args, index), same = peers(there, digit);
        if (there) ((u64*)args.to)[mine[digit] + __popc(same & ((1u << lane()) - 1))] = index;
        __syncwarp();
        if (there && u32(__ffs(int(same))) == lane() + 1) mine[digit] += __popc(same);
        __syncwarp();
    }
}

// True for the first point of a cell.
DEVICE bool begins(const PointsArgs& args, u64 at) {
    if (at >= args.number || from_at(args, at) == args.cells) return false;
    return at == 0 || from_at(args, at - 1) != from_at(args, at);
}

ENTRY(count_heads, PointsArgs, args, u64, unused, u64, unused_too) {
    const u64 first = u64(blockIdx.x) * TILE;
    u32 mine = 0, total = 0;
    for (u32 i = threadIdx.x; i < TILE; i += BLOCK) mine += begins(args, first + i);
    before_in_block(mine, total);
    if (threadIdx.x == 0) ((u32*)args.counts)[blockIdx.x] = total;
}

// The cells with points, and the number of the first point of each.
ENTRY(list_heads, PointsArgs, args, u64, unused, u64, unused_too) {
    const u64 first = u64(blockIdx.x) * TILE;
    u32 known = ((const u32*)args.counts)[blockIdx.x], total = 0;
    for (u32 round = 0; round < ROUNDS; round++) {
        const u64 at = first + round * BLOCK + threadIdx.x;
        const bool head = begins(args, at);
        const u32 row = known + before_in_block(head, total);
        if (head) {
            ((u64*)args.to)[row] = from_at(args, at);
            if (args.heads) ((u32*)args.heads)[row] = u32(at);
        }
        known += total;
    }
}

ENTRY(count_points, PointsArgs, args, u64, unused, u64, unused_too) {
    const u64 row = u64(blockIdx.x) * BLOCK + threadIdx.x;
    if (row >= args.rows) return;
    const u32* const heads = (const u32*)args.heads;
    const u64 behind = row + 1 < args.rows ? heads[row + 1] : args.number - ((const u64*)args.found)[0];
    ((u64*)args.words)[row] = behind - heads[row];
}

// How many indices are below each multiple of 2^shift.
ENTRY(begin_buckets, PointsArgs, args, u64, unused, u64, unused_too) {
    const u64 bucket = u64(blockIdx.x) * BLOCK + threadIdx.x;
    if (bucket > args.buckets) return;
    u64 low = 0, high = args.rows;
    if (bucket == args.buckets) low = args.rows;
    while (low < high) {
        const u64 middle = low + (high - low) / 2;
        if (from_at(args, middle) >> args.shift < bucket) low = middle + 1;
        else high = middle;
    }
    ((u64*)args.starts)[bucket] = low;
}
