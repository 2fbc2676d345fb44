// What balancing is made of: prefix sums, the partition that some need, and the units by a balancer (BALANCER_HEADER) and for a
// body (BODY_HEADER). A body is made from the arguments by every thread, called for units, and told when that was all.
#pragma once

#include "balance/items.cuh"
#include "balance/scan.cuh"
#include BODY_HEADER
#include BALANCER_HEADER

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

ENTRY(expand, BalanceArgs, args, u64, unused, u64, neither) {
    Body body(args);
    balance(args, body);
    body.end();
}
