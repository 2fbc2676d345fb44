// The Julibrot: z² + c from every z, for every c. Twin of src/field/julibrot.rs.
#pragma once

#include "fields/square.cuh"

// Most cells are outside within two steps, and many from the start.
struct Julibrot : Square {
    static constexpr u32 COUNTED = 4, TESTED = 0, SHORTEST = 8, LONGEST = 8;
    static DEVICE constexpr u32 until(u32) { return 0; }
    static constexpr bool CYCLES = false;
    // Where orbits wait for company (kernels/stream/cells.cuh): steps before that beside young ones, and the ages at which stages end, but
    // for the last, which ends at the cap.
    static constexpr u32 FIRST = 0, STAGES = 1;
    static DEVICE constexpr u32 bound(u32) { return 0; }
    static DEVICE Julibrot start(const Real (&p)[4]) { return {{p[0], p[1], p[2], p[3]}}; }
};

#define FIELD_ORBIT Julibrot
DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Julibrot>(args, cell); }

struct FromAnywhere : Taylor {
    static constexpr bool SETTLES = false;
    static DEVICE FromAnywhere start(const Hull& hull) {
        const Disc start{hull.centre[0], hull.centre[1], hull.radius<0, 2>()};
        const Disc c{hull.centre[2], hull.centre[3], hull.radius<2, 4>()};
        return {from(start, c, hull.reach<2, 4>())};
    }
};

DEVICE Verdict prove(const FieldArgs& args, const Region& region, u32& value) {
    return certify<FromAnywhere>(args, region, value);
}
