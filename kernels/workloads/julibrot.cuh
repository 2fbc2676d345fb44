// The Julibrot: z² + c from every z, for every c. Twin of src/workload/julibrot.rs.
#pragma once

#include "workloads/square.cuh"

struct Julibrot : Square {
    static DEVICE Julibrot start(const Real (&p)[4]) { return {{p[0], p[1], p[2], p[3]}}; }
};

DEVICE u32 label(const FieldArgs& field, const Coords& cell) { return dwell<Julibrot>(field, cell); }
