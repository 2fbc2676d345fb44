// The Mandelbulb of power 8, polar axis z, by squaring, and a ball about one orbit. Twin of src/field/mandelbulb.rs, which says why.
#pragma once

#include "unchecked.cuh"
#include "orbit.cuh"

#include "certificate.cuh"

// In the run's numbers and rounding, or in others.
template <class T, bool F> struct Bulb {
    static constexpr u32 COUNTED = 0, TESTED = 8, SHORTEST = 4, LONGEST = 4;
    static DEVICE constexpr u32 until(u32) { return 0; }
    static constexpr bool CYCLES = false;
    // Where orbits wait for company.
    static constexpr u32 FIRST = 0, STAGES = 1;
    static DEVICE constexpr u32 bound(u32) { return 0; }
    T x, y, z, cx, cy, cz;

    static DEVICE Bulb start(const T (&p)[3]) { return {p[0], p[1], p[2], p[0], p[1], p[2]}; }

    DEVICE void step(T tiny) {
        const T p2 = mul_add_as<F>(x, x, mul(y, y));
        // (z + iρ)², ⁴, ⁸ = a + iρb
        const T a1 = mul_add_as<F>(z, z, -p2), b1 = add(z, z);
        const T a2 = mul_add_as<F>(a1, a1, -mul(p2, mul(b1, b1))), b2 = mul(add(a1, a1), b1);
        const T a3 = mul_add_as<F>(a2, a2, -mul(p2, mul(b2, b2))), b3 = mul(add(a2, a2), b2);
        // ((x + iy)/ρ)², ⁴, ⁸
        // From states inside, p2 is at most 4; what it gives below TINY is not used, and from states outside on it need only
        // stay outside: it is right up to 2^126, and beyond that z overflows whatever it is.
        const T inverse = unchecked_reciprocal(p2);
        const T c1 = mul(mul_add_as<F>(x, x, -mul(y, y)), inverse), s1 = mul(mul(add(x, x), y), inverse);
        const T c2 = mul_add_as<F>(c1, c1, -mul(s1, s1)), s2 = mul(add(c1, c1), s1);
        const T c3 = mul_add_as<F>(c2, c2, -mul(s2, s2)), s3 = mul(add(c2, c2), s2);
        const T q = mul(unchecked_root(p2), b3);
        const bool axis = p2 < tiny;
        x = add(axis ? T(0) : mul(q, c3), cx);
        y = add(axis ? T(0) : mul(q, s3), cy);
        z = add(a3, cz);
    }
    DEVICE void step() { step(T(TINY)); }
    DEVICE T norm2() const { return mul_add_as<F>(x, x, mul_add_as<F>(y, y, mul(z, z))); }
    // What moves, for orbits that wait.
    static constexpr u32 STATE = 3;
    template <class Put> DEVICE void save(Put put) const {
        put(0, x);
        put(1, y);
        put(2, z);
    }
    template <class Get> DEVICE void load(Get get) {
        x = get(0);
        y = get(1);
        z = get(2);
    }
    // Where the start is inside, |c| < 2; then |z| ≥ 2 leads to |z⁸ + c| ≥ 256 − 2, less roundings of some units in the last
    // place, and so on until a square overflows; the infinity or NaN that z then is stays. Tried in src/field/mandelbulb.rs.
    // Where it is outside, nothing is run.
    DEVICE bool permanent() const { return true; }
};

#define FIELD_ORBIT Bulb<Real, FUSED>
DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Bulb<Real, FUSED>>(args, cell); }

struct Ball {
    static constexpr bool SETTLES = false;
    Bulb<Own, true> w;
    Own around, least, reach;

    static DEVICE Ball start(const Hull& hull) {
        const Own radius = hull.radius<0, 3>();
        return {Bulb<Own, true>::start(hull.centre), radius, add(radius, Own(2048.0 * NEAR)), hull.reach<0, 3>()};
    }
    DEVICE Own square() const { return squares(w.x, w.y, w.z); }
    DEVICE Own radius() const { return around; }
    DEVICE void step(Own modulus, Own radius) {
        const Own m = add(modulus, radius), p2 = fma_once(w.x, w.x, mul(w.y, w.y));
        // As the step does it: right where it is used.
        const Own distant = p2 < Own(OWN_TINY) ? Own(0) : unchecked_root(p2);
        const Own pole = fma_once(distant, LESS, -radius);
        const Own stretch = mul(Own(8), pole) > m ? mul(m, unchecked_reciprocal(pole)) : Own(8);
        const Own m2 = mul(m, m), m4 = mul(m2, m2);
        const Own most = mul(mul(Own(8), mul(mul(m4, m2), m)), stretch);
        const Own rounded = fma_once(Own(128.0 * (UNIT + OWN_UNIT)), fma_once(m4, m4, reach), least);
        around = mul(fma_once(most, radius, rounded), MORE);
        w.step(Own(OWN_TINY));
    }
};

DEVICE Verdict prove(const FieldArgs& args, const Region& region, u32& value) { return certify<Ball>(args, region, value); }
