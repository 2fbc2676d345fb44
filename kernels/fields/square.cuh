// z² + c, in four operations: x' = fma(x, x, fma(−y, y, c_x)), y' = fma(x + x, y, c_y). Twin of `square_plus_c` in
// src/field/mandelbrot.rs.
#pragma once

#include "orbit.cuh"

struct Square {
    Real x, y, cx, cy;

    DEVICE void step() {
        // The sum first: in this order no operation waits for the one before it.
        const Real twice = add(x, x), re = square_sub_add(x, y, cx);
        y = mul_add(twice, y, cy);
        x = re;
    }
    DEVICE Real norm2() const { return mul_add(x, x, mul(y, y)); }
    // Shown in src/field/escape/passes.rs.
    DEVICE bool permanent() const { return add(mul(cx, cx), mul(cy, cy)) < Real(3.99); }
};
