// Faces that regions share, as the rule `closed` looks at them: planes of the domain's cells, one for every lower side of a region of the
// last level and one for the domain's upper side, whose labels are kept until the array is written. Every cell on them is evaluated once.
//
// Plane q of axis j holds the cells whose coordinate on it is where region q of the last level begins; the last plane those of the domain's
// last layer. About a region that is asked for, the planes of axis j hold the cells of its closed box that are, on the axes below j, the
// region's own without its lowest: those are on planes below. So few cells are in two of them.
#pragma once

DEVICE u32 layer_cells(const u32* size, u32 axis) {
    u32 cells = 1;
#pragma unroll
    for (u32 l = 0; l < DIM; l++) cells *= l == axis ? 1 : size[l];
    return cells;
}
// Between neighbours along axis l in a plane of `axis`.
DEVICE u32 face_stride(const RunArgs& run, u32 axis, u32 l) {
    u32 cells = 1;
#pragma unroll
    for (u32 m = 0; m < DIM; m++) cells *= m < l && m != axis ? run.size[m] : 1;
    return cells;
}
// The number of a cell of a plane among those of all planes.
DEVICE u32 face_index(const RunArgs& run, const LaunchArgs& launch, u32 axis, u32 plane, const Coords& cell) {
    u32 index = launch.planes[axis] + plane * layer_cells(run.size, axis);
#pragma unroll
    for (u32 l = 0; l < DIM; l++) index += l == axis ? 0 : cell[l] * face_stride(run, axis, l);
    return index;
}
// The planes of an axis between those of two neighbours on a level.
DEVICE u32 plane_step(const LaunchArgs& launch, u32 axis) { return launch.finest[axis] / launch.grid[axis]; }

// The coordinate of a plane's cells on its axis.
DEVICE u32 plane_layer(const RunArgs& run, const LaunchArgs& launch, u32 axis, u32 plane) {
    const u32 side = launch.finest_side[axis], at = side != 0 ? plane * side : bound(plane, run.size[axis], launch.finest[axis]);
    return at < run.size[axis] ? at : run.size[axis] - 1;
}

// Where labels of planes go, and what they cost.
struct FaceSheet {
    const RunArgs& run;
    const LaunchArgs& launch;
    u64 cells = 0, labels = 0;

    DEVICE void put(u32 index, Value found, bool mine) {
        if (mine) ((FaceLabel*)launch.faces)[index] = FaceLabel(found);
        cells += mine;
        if (LABELS_COUNT) labels += mine ? found : 0;
    }
};

// A box between planes: a region with the next layer of cells on its upper sides, where the domain has one.
struct Closed {
    Coords corner, own, extent;

    DEVICE Closed(const RunArgs& run, const Region& region) : corner(region.corner), own(region.extent), extent(region.extent) {
#pragma unroll
        for (u32 j = 0; j < DIM; j++) extent[j] += corner[j] + own[j] < run.size[j];
    }

    // The cells that planes of `axis` hold of it along another.
    DEVICE u32 span(u32 axis, u32 l) const { return l == axis ? 1 : l > axis ? extent[l] : own[l] - 1; }
    DEVICE u32 section(u32 axis) const {
        u32 cells = 1;
#pragma unroll
        for (u32 l = 0; l < DIM; l++) cells *= span(axis, l);
        return cells;
    }
    // A cell of that; on `axis` it is anything.
    DEVICE Coords cell(u32 axis, u32 number) const {
        Coords cell = corner;
#pragma unroll
        for (u32 l = 0; l < DIM; l++) {
            if (l == axis) continue;
            const bool last = l + 1 == DIM || (l + 2 == DIM && l + 1 == axis);
            cell[l] += (l < axis) + (last ? number : number % span(axis, l));
            if (!last) number /= span(axis, l);
        }
        return cell;
    }
};
