// A coarse sample: one thread per point of a lattice through the domain, grid[j] points on axis j. Point p is cell
// ⌊p·n/grid⌋; the keys of labels are stored in the order of the points. Twin of src/geometry/sample_grid.rs.
#include "prelude.cuh"

#include "team.cuh"

#include "region.cuh"
#include FIELD_HEADER
#include "value.cuh"

KERNEL(sample, SampleArgs) {
    Listener listener(run.stop);
    const u64 index = (launch.first + blockIdx.x) * BLOCK + threadIdx.x;
    const bool mine = index < launch.points;
    u64 rest = mine ? index : 0;
    Coords cell;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        cell[j] = bound(u32(rest % launch.grid[j]), run.size[j], launch.grid[j]);
        rest /= launch.grid[j];
    }
    if (listener.ends(0)) return;
    const Value found = key(value_at(args, cell));
    if (mine) ((Value*)launch.labels)[index] = found;
}
