// Sample points of cells. Twin of src/field/points.rs.
#pragma once

// Members of FieldArgs are read at fixed places only: kernels may copy it, so that what is computed of it is known to stay.
#define FIELD_ARGS_BY_VALUE

// x_j of cells whose coordinate on axis j, with the offset, is `at`.
DEVICE Real sample_at(const FieldArgs& args, u32 j, Real at) { return mul_add(at, Real(args.pitch[j]), Real(args.low[j])); }
DEVICE Real sample(const FieldArgs& args, u32 j, u32 c) { return sample_at(args, j, add(Real(c), Real(args.offset))); }
