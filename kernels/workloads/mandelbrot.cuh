// The Mandelbrot set: z² + c from z = c. Twin of src/workload/mandelbrot.rs.
#pragma once

#include "workloads/square.cuh"

struct Mandelbrot : Square {
    static DEVICE Mandelbrot start(const Real (&p)[2]) { return {{p[0], p[1], p[0], p[1]}}; }
};

DEVICE u32 label(const FieldArgs& field, const Coords& cell) { return dwell<Mandelbrot>(field, cell); }
