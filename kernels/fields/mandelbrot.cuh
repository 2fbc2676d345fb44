// The Mandelbrot set: z² + c from z = c. Twin of src/field/mandelbrot.rs.
#pragma once

#include "fields/square.cuh"

struct Mandelbrot : Square {
    static DEVICE Mandelbrot start(const Real (&p)[2]) { return {{p[0], p[1], p[0], p[1]}}; }
};

DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Mandelbrot>(args, cell); }
