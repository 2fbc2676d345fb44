// The Mandelbrot set: z² + c from z = c. Twin of src/field/mandelbrot.rs.
#pragma once

#include "fields/square.cuh"

struct Mandelbrot : Square {
    static constexpr u32 COUNTED = 0, TESTED = 0, SHORTEST = 8, LONGEST = 16;
    static DEVICE constexpr u32 until(u32) { return 32; }
    static constexpr bool CYCLES = true;
    // Where orbits wait for company.
    static constexpr u32 FIRST = 32, STAGES = 3;
    static DEVICE constexpr u32 bound(u32 stage) { return stage == 0 ? 128 : 256; }
    static DEVICE Mandelbrot start(const Real (&p)[2]) { return {{p[0], p[1], p[0], p[1]}}; }
};

#define FIELD_ORBIT Mandelbrot
DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Mandelbrot>(args, cell); }

struct FromC : Taylor {
    static constexpr bool SETTLES = true;
    static DEVICE FromC start(const Hull& hull) {
        const Disc c{hull.centre[0], hull.centre[1], hull.radius<0, 2>()};
        return {from_c(c, hull.reach<0, 2>())};
    }
};

DEVICE Verdict prove(const FieldArgs& args, const Region& region, u32& value) { return certify<FromC>(args, region, value); }
