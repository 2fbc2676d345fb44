// Digit sets: a cell is 1 iff each of its base-b digit vectors is kept. Twin of src/workload/digits.rs; DIGIT_SET names
// the rule, BASE is b.
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

DEVICE u32 label(const FieldArgs& field, const Coords& cell) {
    Coords rest = cell;
    for (u32 t = 0; t < field.digits; t++) {
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
        if (!DIGIT_SET(digits)) return 0;
    }
    return 1;
}
