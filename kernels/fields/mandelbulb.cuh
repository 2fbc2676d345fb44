// The Mandelbulb of power 8, polar axis z, by squaring. Twin of src/field/mandelbulb.rs.
#pragma once

#include "unchecked.cuh"
#include "orbit.cuh"

#ifndef LAB_BTESTED
#define LAB_BTESTED 8
#endif
#ifndef LAB_BLONGEST
#define LAB_BLONGEST 4
#endif
#ifndef LAB_NEWTON
#define LAB_NEWTON 1
#endif

struct Mandelbulb {
    static constexpr u32 COUNTED = 0, TESTED = LAB_BTESTED, SHORTEST = LAB_BLONGEST, LONGEST = LAB_BLONGEST;
    static DEVICE constexpr u32 until(u32) { return 0; }
    Real x, y, z, cx, cy, cz;

    static DEVICE Mandelbulb start(const Real (&p)[3]) { return {p[0], p[1], p[2], p[0], p[1], p[2]}; }

    DEVICE void step() {
        const Real p2 = mul_add(x, x, mul(y, y));
        // (z + iρ)², ⁴, ⁸ = a + iρb
        const Real a1 = mul_sub(z, z, p2), b1 = add(z, z);
        const Real a2 = mul_sub(a1, a1, mul(p2, mul(b1, b1))), b2 = mul(add(a1, a1), b1);
        const Real a3 = mul_sub(a2, a2, mul(p2, mul(b2, b2))), b3 = mul(add(a2, a2), b2);
        // ((x + iy)/ρ)², ⁴, ⁸
        // From states inside, p2 is at most 4; what it gives below TINY is not used, and from states outside nothing is.
        const Real inverse = LAB_NEWTON ? unchecked_reciprocal(p2) : quotient(Real(1), p2);
        const Real c1 = mul(mul_sub(x, x, mul(y, y)), inverse), s1 = mul(mul(add(x, x), y), inverse);
        const Real c2 = mul_sub(c1, c1, mul(s1, s1)), s2 = mul(add(c1, c1), s1);
        const Real c3 = mul_sub(c2, c2, mul(s2, s2)), s3 = mul(add(c2, c2), s2);
        const Real q = mul(LAB_NEWTON ? unchecked_root(p2) : root(p2), b3);
        const bool axis = p2 < Real(TINY);
        x = add(axis ? Real(0) : mul(q, c3), cx);
        y = add(axis ? Real(0) : mul(q, s3), cy);
        z = add(a3, cz);
    }
    DEVICE Real norm2() const { return mul_add(x, x, mul_add(y, y, mul(z, z))); }
    // Where the start is inside, |c| < 2; then |z| ≥ 2 leads to |z⁸ + c| ≥ 256 − 2, less roundings of some units in the last
    // place, and so on until a square overflows; the infinity or NaN that z then is stays. Tried in src/field/mandelbulb.rs.
    // Where it is outside, nothing is run.
    DEVICE bool permanent() const { return true; }
};

DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Mandelbulb>(args, cell); }
