// A field of the user's own: `u32 label(const Real (&x)[DIM], u32 dwell)`, x the sample point of the cell.
#pragma once

#include USER_SOURCE

#include "points.cuh"

DEVICE u32 label(const FieldArgs& args, const Coords& cell) {
    Real point[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) point[j] = sample(args, j, cell[j]);
    const u32 found = label(point, args.dwell);
    return found < args.dwell ? found : args.dwell;
}
