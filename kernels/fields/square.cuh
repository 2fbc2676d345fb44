// z² + c, in four operations: x' = fma(x, x, fma(−y, y, c_x)), y' = fma(x + x, y, c_y); and orbits enclosed to first order. Twin of
// src/field/escape/square.rs, which says why.
#pragma once

#include "orbit.cuh"

#include "certificate.cuh"

struct Square {
    Real x, y, cx, cy;

    DEVICE void step() {
        // The sum first: in this order no operation waits for the one before it.
        const Real twice = add(x, x), re = square_sub_add(x, y, cx);
        y = mul_add(twice, y, cy);
        x = re;
    }
    DEVICE Real norm2() const { return mul_add(x, x, mul(y, y)); }
    // What moves, for orbits that wait.
    static constexpr u32 STATE = 2;
    template <class Put> DEVICE void save(Put put) const {
        put(0, x);
        put(1, y);
    }
    template <class Get> DEVICE void load(Get get) {
        x = get(0);
        y = get(1);
    }
    // Shown in src/field/escape/passes.rs.
    DEVICE bool permanent() const { return add(mul(cx, cx), mul(cy, cy)) < Real(3.99); }
};

// A disc of which orbits start, or whose points are their c.
struct Disc {
    double x, y, radius;
};

struct Taylor {
    double x, y, cx, cy, p, q, dz, error, rho_c, rho_z, rounding;

    static DEVICE Taylor of(const Disc& c, const Disc& start, double own, double reach) {
        return {start.x, start.y, c.x, c.y, own, 0.0, 1.0 - own, 0.0, c.radius, own == 1.0 ? 0.0 : start.radius,
                mul(4.0 * UNIT + 32.0 * OWN_UNIT, add(4.0, add(reach, UNDERFLOWS)))};
    }
    DEVICE double modulus() const { return root(add(mul(x, x), mul(y, y))); }
    DEVICE double radius() const {
        const double linear = add(mul(root(add(mul(p, p), mul(q, q))), rho_c), mul(dz, rho_z));
        return add(linear, error);
    }
    DEVICE void step(double modulus, double radius) {
        const double twice = add(modulus, modulus);
        error = mul(add(add(mul(radius, radius), mul(twice, error)), rounding), 1.0 + SLACK);
        dz = mul(mul(twice, dz), 1.0 + SLACK);
        const double re = add(mul(x, p), -mul(y, q)), im = add(mul(x, q), mul(y, p));
        p = add(mul(2.0, re), 1.0);
        q = mul(2.0, im);
        const double next = add(add(mul(x, x), -mul(y, y)), cx);
        y = add(mul(add(x, x), y), cy);
        x = next;
    }
};
