// Digit sets: a cell is 1 iff each of its base-b digit vectors is kept. Twin of src/field/digits.rs; DIGIT_SET names
// the rule, BASE is b, KEEPS_ALL says that the rule keeps every vector.
#pragma once

struct Digits {
    u32 centres = 0, sum = 0, first = 0;
    bool equal = true;
};

DEVICE bool cantor(const Digits& d) { return d.centres == 0; }
DEVICE bool carpet(const Digits& d) { return d.centres < DIM; }
DEVICE bool menger(const Digits& d) { return d.centres <= 1; }
DEVICE bool simplex(const Digits& d) { return d.sum <= 1; }
DEVICE bool diagonal(const Digits& d) { return d.equal; }

DEVICE bool keeps(const Coords& digit) {
    Digits digits;
    digits.first = digit[0];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        digits.centres += digit[j] == 1;
        digits.sum += digit[j];
        digits.equal = digits.equal && digit[j] == digits.first;
    }
    return DIGIT_SET(digits);
}

// True if the digit vectors of `cell` are kept, but for the last `skipped` ones.
DEVICE bool kept(const FieldArgs& args, const Coords& cell, u32 skipped) {
    Coords rest = cell, digit;
    for (u32 t = 0; t < args.digits; t++) {
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            digit[j] = rest[j] % BASE;
            rest[j] /= BASE;
        }
        if (t >= skipped && !keeps(digit)) return false;
    }
    return true;
}

DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return kept(args, cell, 0); }

DEVICE bool differ(const Coords& a, const Coords& b) {
    bool differ = false;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) differ = differ || a[j] != b[j];
    return differ;
}

// Cubes of side b^t within one whose digits before are kept, as far as they meet a region: depth first, until a cell that is kept and one
// that is not were met. Where a cube lies says where the next one does.
struct Scan {
    const Region& region;
    u64 at[DIM], side;

    // The cube of side `side` in which the region lies.
    DEVICE Scan(const Region& region, u64 side) : region(region), side(side) {
#pragma unroll
        for (u32 j = 0; j < DIM; j++) at[j] = region.corner[j] - region.corner[j] % side;
    }

    // The first within.
    DEVICE void descend() {
        side /= BASE;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) at[j] += before(j, at[j]);
    }
    DEVICE void ascend() {
        side *= BASE;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) at[j] -= at[j] % side;
    }
    // The next one within the same; false if there is none.
    DEVICE bool next() {
        const u64 around = side * BASE;
        bool moved = false;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            if (moved) continue;
            const u64 lowest = at[j] - at[j] % around, beyond = u64(region.corner[j]) + region.extent[j], there = at[j] + side;
            moved = there < lowest + around && there < beyond;
            at[j] = moved ? there : lowest + before(j, lowest);
        }
        return moved;
    }
    DEVICE bool kept() const {
        Coords digit;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) digit[j] = u32(at[j] / side % BASE);
        return keeps(digit);
    }

  private:
    // From a cube's lowest cell to that of the first within that meets the region.
    DEVICE u64 before(u32 j, u64 lowest) const { return region.corner[j] > lowest ? (region.corner[j] - lowest) / side * side : 0; }
};

DEVICE Verdict scanned(const Region& region, u64 side, u32& value) {
    Scan scan(region, side);
    bool found[2] = {};
    scan.descend();
    while (true) {
        const bool kept = scan.kept();
        if (kept && scan.side > 1) {
            scan.descend();
            continue;
        }
        found[kept] = true;
        if (found[0] && found[1]) return MIXED;
        while (!scan.next()) {
            scan.ascend();
            if (scan.side == side) {
                value = found[1];
                return UNIFORM;
            }
        }
    }
}

// All cells of the least cube of side b^t around a region share their digits from t on. If those are not kept, the region
// is 0; if they are and the region is that cube, the rule says what is in it. Else its parts are looked at.
DEVICE Verdict prove(const FieldArgs& args, const Region& region, u32& value) {
    Coords low = region.corner, high;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) high[j] = low[j] + (region.extent[j] - 1);
    u32 t = 0;
    u64 side = 1;
    for (; differ(low, high); t++, side *= BASE) {
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            low[j] /= BASE;
            high[j] /= BASE;
        }
    }
    bool cube = true;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) cube = cube && region.extent[j] == side;
    value = kept(args, region.corner, t);
    if (value == 0 || KEEPS_ALL || t == 0) return UNIFORM;
    return cube ? MIXED : scanned(region, side, value);
}
