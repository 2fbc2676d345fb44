// Balancers side by side: prefix sums, the partition that some need, the units by a balancer and for a body, and the check of
// what came of it. Compiled for one balancer and one body.
#include "ground.cuh"

#include "balance/items.cuh"
#include "balance/scan.cuh"
#include BODY_HEADER
#include BALANCER_HEADER
#include "balance/check.cuh"

// Units before each item.
ENTRY(scan_units, BalanceArgs, args, u64, unused, u64, neither) {
    scan_tile(args, (u64*)args.prefix, [](u32 size) { return u64(size); });
}

#if SCANS_TILES
// Tiles before each item.
ENTRY(scan_tiles, BalanceArgs, args, u64, unused, u64, neither) {
    scan_tile(args, (u64*)args.tiles, [](u32 size) { return (u64(size) + CHUNK - 1) / CHUNK; });
}
#endif

#if PARTITIONS
ENTRY(partition_units, BalanceArgs, args, u64, first, u64, unused) {
    const u64 chunk = first * BLOCK + thread();
    if (chunk <= args.chunks) ((u32*)args.parts)[chunk] = partition(args, chunk);
}
#endif

ENTRY(expand, BalanceArgs, args, u64, unused, u64, neither) { balance(args, Body(args)); }

ENTRY(check, BalanceArgs, args, u64, runs, u64, unused) { check_items(args, runs); }
