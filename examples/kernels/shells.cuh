// Concentric shells in any number of dimensions: the label is the number of the shell.
//   orthant run kernel --source examples/kernels/shells.cuh --dim 5 -n 24 -g 2 -B 1 --dwell 8
__device__ u32 label(const Real (&x)[DIM], u32 dwell) {
    Real r2 = 0;
    for (u32 j = 0; j < DIM; j++) r2 += x[j] * x[j];
    return u32(r2 * Real(4));
}
