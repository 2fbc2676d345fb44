// A field of the user's own: `u32 label(const Real (&x)[DIM], u32 dwell)`, x the sample point of the cell.
#pragma once

#include USER_SOURCE

DEVICE u32 label(const FieldArgs& field, const Coords& cell) {
    Real point[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        point[j] = mul_add(add(Real(cell[j]), Real(field.offset)), Real(field.pitch[j]), Real(field.low[j]));
    }
    const u32 found = label(point, field.dwell);
    return found < field.dwell ? found : field.dwell;
}
