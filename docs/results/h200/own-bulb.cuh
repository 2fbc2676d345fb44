// The Mandelbulb of power 8 as a source of one's own that says nothing but labels.
#include "unchecked.cuh"
#include "orbit.cuh"

struct OwnBulb {
    static constexpr u32 COUNTED = 0, TESTED = 8, SHORTEST = 4, LONGEST = 4;
    static DEVICE constexpr u32 until(u32) { return 0; }
    static constexpr bool CYCLES = false;
    Real x, y, z, cx, cy, cz;
    DEVICE void step() {
        const Real p2 = mul_add(x, x, mul(y, y));
        const Real a1 = mul_add(z, z, -p2), b1 = add(z, z);
        const Real a2 = mul_add(a1, a1, -mul(p2, mul(b1, b1))), b2 = mul(add(a1, a1), b1);
        const Real a3 = mul_add(a2, a2, -mul(p2, mul(b2, b2))), b3 = mul(add(a2, a2), b2);
        const Real inverse = unchecked_reciprocal(p2);
        const Real c1 = mul(mul_add(x, x, -mul(y, y)), inverse), s1 = mul(mul(add(x, x), y), inverse);
        const Real c2 = mul_add(c1, c1, -mul(s1, s1)), s2 = mul(add(c1, c1), s1);
        const Real c3 = mul_add(c2, c2, -mul(s2, s2)), s3 = mul(add(c2, c2), s2);
        const Real q = mul(unchecked_root(p2), b3);
        const bool axis = p2 < Real(1e-30);
        x = add(axis ? Real(0) : mul(q, c3), cx);
        y = add(axis ? Real(0) : mul(q, s3), cy);
        z = add(a3, cz);
    }
    DEVICE Real norm2() const { return mul_add(x, x, mul_add(y, y, mul(z, z))); }
};

__device__ u32 label(const Real (&c)[DIM], u32 cap) {
    OwnBulb z{c[0], c[1], c[2], c[0], c[1], c[2]};
    u32 d = 0, span = 0;
    tested(z, d, 8 < cap ? 8 : cap);
    if (d == 8 && d < cap && inside(z)) span = late(z, d, cap);
    __syncwarp();
    if (span > 0) {
        search<4>(z, d, span);
        d++;
    }
    return d < cap ? d : cap;
}
