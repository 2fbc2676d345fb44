// M × M: the minimum of Mandelbrot dwells over pairs of axes, looked up in images. Twin of src/workload/mxm.rs.
#pragma once

DEVICE u32 label(const FieldArgs& field, const Coords& cell) {
    u32 least = MIXED;
#pragma unroll
    for (u32 f = 0; f < DIM / 2; f++) {
        const u32* image = (const u32*)field.images[f];
        const u32 dwell = image[u64(cell[2 * f + 1]) * field.width[f] + cell[2 * f]];
        least = dwell < least ? dwell : least;
    }
    return least;
}
