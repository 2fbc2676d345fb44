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

// True if the digit vectors of `cell` are kept, but for the last `skipped` ones.
DEVICE bool kept(const FieldArgs& args, const Coords& cell, u32 skipped) {
    Coords rest = cell;
    for (u32 t = 0; t < args.digits; t++) {
        Digits digits;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            const u32 digit = rest[j] % BASE;
            rest[j] /= BASE;
            digits.centres += digit == 1;
            digits.sum += digit;
            if (j == 0) digits.first = digit;
            digits.equal = digits.equal && digit == digits.first;
        }
        if (t >= skipped && !DIGIT_SET(digits)) return false;
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

// All cells of the least cube of side b^t around a region share their digits from t on. If those are not kept, the region
// is 0; if they are and the region is that cube, the rule says what is in it. Else nothing is known.
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
    if (value == 0) return UNIFORM;
    if (!cube) return UNKNOWN;
    return KEEPS_ALL || t == 0 ? UNIFORM : MIXED;
}
