// Escape-time labels: the number of iterations before an orbit leaves the disc of radius 2. Twin of src/field/escape/.
//
// The plain loop tests before every step. For z² + c the test costs as much as the step, so it is made late: after
// LATE steps at once, from the state saved before them, to which the orbit returns when it is found outside; the plain
// loop then resolves the exact count. A late test is exact where |c|² < 3.99, since escape is permanent there
// (src/field/escape/passes.rs); other cells take the plain loop.
#pragma once

constexpr u32 LATE = 8;

// x_j of cells whose coordinate on axis j is c.
DEVICE Real sample(const FieldArgs& args, u32 j, u32 c) {
    return mul_add(add(Real(c), Real(args.offset)), Real(args.pitch[j]), Real(args.low[j]));
}

template <class Orbit> DEVICE u32 dwell(const FieldArgs& args, const Coords& cell) {
    Real point[DIM];
#pragma unroll
    for (u32 j = 0; j < DIM; j++) point[j] = sample(args, j, cell[j]);
    Orbit z = Orbit::start(point);
    u32 d = 0;
    if (Orbit::LATE_TEST) {
        if (z.permanent()) {
            while (d + LATE <= args.dwell) {
                const Orbit saved = z;
#pragma unroll
                for (u32 i = 0; i < LATE; i++) z.step();
                // NaN is outside too.
                if (!(z.norm2() < Real(4))) {
                    z = saved;
                    break;
                }
                d += LATE;
            }
        }
        // One place for all lanes to resolve in, not one for every way out of the loop.
        __syncwarp();
    }
    while (d < args.dwell && z.norm2() < Real(4)) {
        z.step();
        d++;
    }
    return d;
}
