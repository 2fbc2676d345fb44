// Is a float's unchecked reciprocal and root the correctly rounded one? Axis 0 is its mantissa, axis 1 its exponent, as they are
// stored: 0 where both are. With dwell 4 seeds stand for reciprocals, which they are not everywhere.
#include "unchecked.cuh"

__device__ u32 label(const Real (&x)[DIM], u32 dwell) {
    const float a = __uint_as_float(u32(x[1]) << 23 | u32(x[0]));
    const float reciprocal = dwell == 4 ? reciprocal_seed(a) : unchecked_reciprocal(a);
    return u32(reciprocal != quotient(1.0f, a)) + 2 * u32(unchecked_root(a) != root(a));
}
