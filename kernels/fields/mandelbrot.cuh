// The Mandelbrot set: z² + c from z = c. Twin of src/field/mandelbrot.rs.
#pragma once

#include "fields/square.cuh"

#ifndef LAB_UNTIL8
#define LAB_UNTIL8 32
#endif
#ifndef LAB_UNTIL16
#define LAB_UNTIL16 128
#endif
#ifndef LAB_LONGEST
#define LAB_LONGEST 32
#endif
#ifndef LAB_SHORTEST
#define LAB_SHORTEST 8
#endif

struct Mandelbrot : Square {
    static constexpr u32 COUNTED = 0, TESTED = 0, SHORTEST = LAB_SHORTEST, LONGEST = LAB_LONGEST;
    static DEVICE constexpr u32 until(u32 k) { return k == 4 ? 8 : k == 8 ? LAB_UNTIL8 : LAB_UNTIL16; }
    static DEVICE Mandelbrot start(const Real (&p)[2]) { return {{p[0], p[1], p[0], p[1]}}; }
};

DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Mandelbrot>(args, cell); }
