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
    DEVICE bool same(const Square& other) const { return x == other.x && y == other.y; }
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
    Own x, y, radius;
};

struct Taylor {
    Own x, y, cx, cy, p, q, error, rho, rounding;

    // Of every c in a disc, from z = c, or from every start in another. Of a wide disc they are a ball, so that all roots are of small
    // numbers.
    static DEVICE Taylor from_c(const Disc& c, Own reach) { return of(c, c.x, c.y, c.radius, 0, reach); }
    static DEVICE Taylor from(const Disc& start, const Disc& c, Own reach) {
        return of(c, start.x, start.y, 0, start.radius, reach);
    }
    DEVICE Own square() const { return squares(x, y); }
    DEVICE Own radius() const { return add(unchecked_root(squares(p, q)), error); }
    DEVICE void step(Own modulus, Own radius) {
        const Own x2 = add(x, x), y2 = add(y, y);
        error = mul(fma_once(add(modulus, modulus), error, fma_once(radius, radius, rounding)), MORE);
        const Own im = fma_once(x2, q, mul(y2, p)), re = fma_once(x, x, fma_once(-y, y, cx));
        p = fma_once(x2, p, fma_once(-y2, q, rho));
        q = im;
        y = fma_once(x2, y, cy);
        x = re;
    }

    // Every start at most this far from the middle.
    DEVICE void widen(Own wide) {
        p = q = 0;
        error = wide;
    }
    // At least how far the middles of two are from each other.
    DEVICE Own apart(const Taylor& other) const {
        return unchecked_root(squares(add(x, -other.x), add(y, -other.y)));
    }

  private:
    static DEVICE Taylor of(const Disc& c, Own x, Own y, Own linear, Own error, Own reach) {
        const Own rounding = mul(Own(4.0 * UNIT + 6.0 * OWN_UNIT), add(Own(4), reach));
        if (c.radius > Own(WIDE)) return {x, y, c.x, c.y, 0, 0, add(linear, error), 0, add(rounding, c.radius)};
        return {x, y, c.x, c.y, linear, 0, error, c.radius, rounding};
    }
};
