// A set of cells by its rows along axis 0: where each enters the set or leaves it. Twin of src/field/mesh/field.rs.
#pragma once

// Members of FieldArgs are read at fixed places only.
#define FIELD_ARGS_BY_VALUE

#include "fields/mesh_rows.cuh"

DEVICE u32 label(const FieldArgs& args, const Coords& cell) {
    return MeshRow(MeshPlane(args, cell[2]), cell[1]).passed(cell[0]) & 1;
}

// Complete: the answer is never that nothing is known.
DEVICE Verdict prove(const FieldArgs& args, const Region& region, u32& value) {
    const u32 x = region.corner[0], last = x + (region.extent[0] - 1);
#pragma unroll 1
    for (u32 k = 0; k < region.extent[2]; k++) {
        const MeshPlane plane(args, region.corner[2] + k);
#pragma unroll 1
        for (u32 j = 0; j < region.extent[1]; j++) {
            const MeshRow row(plane, region.corner[1] + j);
            const u32 passed = row.passed(x), here = passed & 1;
            if (k == 0 && j == 0) value = here;
            if (here != value || (passed < row.count && row.changes[passed] <= last)) return MIXED;
        }
    }
    return UNIFORM;
}
