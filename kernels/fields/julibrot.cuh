// The Julibrot: z² + c from every z, for every c. Twin of src/field/julibrot.rs.
#pragma once

#include "fields/square.cuh"

#ifndef LAB_COUNTED
#define LAB_COUNTED 4
#endif
#ifndef LAB_JTESTED
#define LAB_JTESTED 0
#endif
#ifndef LAB_JSHORTEST
#define LAB_JSHORTEST 4
#endif
#ifndef LAB_JLONGEST
#define LAB_JLONGEST 8
#endif
#ifndef LAB_UNTIL4
#define LAB_UNTIL4 20
#endif

// Most cells are outside within two steps, and many from the start.
struct Julibrot : Square {
    static constexpr u32 COUNTED = LAB_COUNTED, TESTED = LAB_JTESTED, SHORTEST = LAB_JSHORTEST, LONGEST = LAB_JLONGEST;
    static DEVICE constexpr u32 until(u32 k) { return k == 4 ? LAB_UNTIL4 : 36; }
    static DEVICE Julibrot start(const Real (&p)[4]) { return {{p[0], p[1], p[2], p[3]}}; }
};

DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Julibrot>(args, cell); }
