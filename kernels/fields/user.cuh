// A field of the user's own: `u32 label(const Real (&x)[DIM], u32 dwell)`, x the sample point of the cell.
#pragma once

#include USER_SOURCE

DEVICE u32 label(const FieldArgs& args, const Coords& cell) {
    Real point[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        point[j] = mul_add(add(Real(cell[j]), Real(args.offset)), Real(args.pitch[j]), Real(args.low[j]));
    }
    const u32 found = label(point, args.dwell);
    return found < args.dwell ? found : args.dwell;
}
