// The Burning Ship: z -> (|Re z| + i |Im z|)^2 + c. Try it:
//   orthant run kernel --source examples/kernels/burning_ship.cuh --dim 2 -n 4096 --dwell 256 --domain=-1.9:-1.6,-0.1:0.05 -o ship.png
__device__ u32 label(const Real (&c)[DIM], u32 dwell) {
    Real x = 0, y = 0;
    u32 d = 0;
    while (d < dwell && x * x + y * y < Real(4)) {
        const Real re = x * x - y * y + c[0];
        y = Real(2) * fabs(x * y) + c[1];
        x = re;
        d++;
    }
    return d;
}
