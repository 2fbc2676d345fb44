// The body of a comparison: reads and changes a unit's cell, by what tells that the right item came to the right place
// (the kernel that the Multi-phase Mapping paper measures with reads and changes four bytes per unit, too).
#pragma once

DEVICE u32 mark(u32 item, u32 rank) { return item * 0x9e3779b1u + rank * 0x85ebca77u + 1; }

struct Body {
    u32* cells;

    DEVICE explicit Body(const BalanceArgs& args) : cells((u32*)args.cells) {}

    DEVICE void operator()(u32 item, u32 rank, u64 unit) const { cells[unit] += mark(item, rank); }
    DEVICE void end() const {}
};
