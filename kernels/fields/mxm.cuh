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

// The minimum of the factors' least dwells in the box, and that of their largest. The lanes of a warp share a row.
DEVICE Verdict prove(const FieldArgs& args, const Region& region, u32& value) {
    u32 largest = 0xffffffffu;
    value = 0xffffffffu;
#pragma unroll
    for (u32 f = 0; f < DIM / 2; f++) {
        u32 least = 0xffffffffu, most = 0;
#pragma unroll 1
        for (u32 y = 0; y < region.extent[2 * f + 1]; y++) {
            const u64 row = u64(region.corner[2 * f + 1] + y) * args.width[f] + region.corner[2 * f];
#pragma unroll 1
            for (u32 x = lane(); x < region.extent[2 * f]; x += 32) {
                const u32 dwell = ((const u32*)args.images[f])[row + x];
                least = dwell < least ? dwell : least;
                most = dwell > most ? dwell : most;
            }
        }
#pragma unroll
        for (u32 distance = 16; distance > 0; distance /= 2) {
            const u32 low = __shfl_xor_sync(0xffffffffu, least, distance), high = __shfl_xor_sync(0xffffffffu, most, distance);
            least = low < least ? low : least;
            most = high > most ? high : most;
        }
        value = least < value ? least : value;
        largest = most < largest ? most : largest;
    }
    return value == largest ? UNIFORM : MIXED;
}
