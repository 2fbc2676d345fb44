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
DEVICE u32 face_index(const RunArgs& run, const StreamArgs& launch, u32 axis, u32 plane, const Coords& cell) {
    u32 index = launch.planes[axis] + plane * layer_cells(run.size, axis);
#pragma unroll
    for (u32 l = 0; l < DIM; l++) index += l == axis ? 0 : cell[l] * face_stride(run, axis, l);
    return index;
}
// The planes of an axis between those of two neighbours on a level.
DEVICE u32 plane_step(const StreamArgs& launch, u32 axis) { return launch.finest[axis] / launch.grid[axis]; }

// The coordinate of a plane's cells on its axis.
DEVICE u32 plane_layer(const RunArgs& run, const StreamArgs& launch, u32 axis, u32 plane) {
    const u32 side = launch.finest_side[axis], at = side != 0 ? plane * side : bound(plane, run.size[axis], launch.finest[axis]);
    return at < run.size[axis] ? at : run.size[axis] - 1;
}

// Where labels of planes go, and what they cost.
struct FaceSheet {
    const RunArgs& run;
    const StreamArgs& launch;
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
            cell[l] += (l < axis) + (is_last(axis, l) ? number : number % span(axis, l));
            if (!is_last(axis, l)) number /= span(axis, l);
        }
        return cell;
    }
    // True if no axis above l is one of the plane's own.
    static DEVICE constexpr bool is_last(u32 axis, u32 l) { return l + 1 == DIM || (l + 2 == DIM && l + 1 == axis); }
};

// Every `apart`-th cell that a plane holds about a box, from number `first` on: by carrying, since there are too many to divide for each.
struct Steps {
    u32 axis, index; // the number of the cell among those of all planes
    u32 step = 0; // what is added to that
    Coords at, by, span, jump; // per axis its place, what is added to that, where it begins anew, and what is added to the number then

    // The plane holds at least one.
    DEVICE Steps(const RunArgs& run, const StreamArgs& launch, const Closed& box, u32 axis, u32 plane, u32 first, u32 apart)
        : axis(axis), index(face_index(run, launch, axis, plane, box.cell(axis, 0))) {
#pragma unroll
        for (u32 l = 0; l < DIM; l++) {
            if (l == axis) continue;
            const bool last = Closed::is_last(axis, l);
            const u32 stride = face_stride(run, axis, l);
            span[l] = box.span(axis, l);
            at[l] = last ? first : first % span[l];
            by[l] = last ? apart : apart % span[l];
            jump[l] = (run.size[l] - span[l]) * stride;
            index += at[l] * stride;
            step += by[l] * stride;
            if (!last) {
                first /= span[l];
                apart /= span[l];
            }
        }
    }

    DEVICE void next() {
        index += step;
        u32 carried = 0;
#pragma unroll
        for (u32 l = 0; l < DIM; l++) {
            if (l == axis || Closed::is_last(axis, l)) continue;
            at[l] += by[l] + carried;
            carried = at[l] >= span[l];
            at[l] -= carried != 0 ? span[l] : 0;
            index += carried != 0 ? jump[l] : 0;
        }
    }
};
