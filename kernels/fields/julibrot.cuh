// The Julibrot: z² + c from every z, for every c. Twin of src/field/julibrot.rs.
#pragma once

#include "fields/square.cuh"

struct Julibrot : Square {
    static DEVICE Julibrot start(const Real (&p)[4]) { return {{p[0], p[1], p[2], p[3]}}; }
};

DEVICE u32 label(const FieldArgs& args, const Coords& cell) { return dwell<Julibrot>(args, cell); }
