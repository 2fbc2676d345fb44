// An array that is there: the label of a cell is its element. Twin of src/field/array.rs.
#pragma once

DEVICE Label label(const FieldArgs& args, const Coords& cell) {
    u64 index = 0;
#pragma unroll
    for (u32 i = 0; i < DIM; i++) index = index * args.size[DIM - 1 - i] + cell[DIM - 1 - i];
    return ((const Label*)args.cells)[index];
}
