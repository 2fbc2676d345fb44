// M × M: the minimum of Mandelbrot dwells over pairs of axes, looked up in images. Twin of src/field/mxm.rs.
#pragma once

DEVICE u32 label(const FieldArgs& args, const Coords& cell) {
    u32 least = 0xffffffffu;
#pragma unroll
    for (u32 f = 0; f < DIM / 2; f++) {
        const u32* image = (const u32*)args.images[f];
        const u32 dwell = image[u64(cell[2 * f + 1]) * args.width[f] + cell[2 * f]];
        least = dwell < least ? dwell : least;
    }
    return least;
}
