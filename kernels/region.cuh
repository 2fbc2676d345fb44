// A box of cells, and the order of its faces. Twin of src/geometry/region.rs.
#pragma once

struct Region {
    Coords corner, extent;

    DEVICE Index volume() const {
        Index cells = 1;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) cells *= extent[j];
        return cells;
    }

    DEVICE Index surface_volume() const {
        Index inside = 1;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) inside *= extent[j] > 2 ? extent[j] - 2 : 0;
        return volume() - inside;
    }

    // The offset of cell `index` from the corner, in storage order.
    DEVICE Coords offset(Index index) const {
        Coords offset;
#pragma unroll
        for (u32 j = 0; j + 1 < DIM; j++) {
            offset[j] = u32(index % extent[j]);
            index /= extent[j];
        }
        offset[DIM - 1] = u32(index);
        return offset;
    }

    // The offset of face cell `index`. Axis by axis: the pair of faces normal to axis j holds the cells on neither face
    // of the axes below j.
    DEVICE Coords surface_offset(Index index) const {
        u32 face = DIM - 1;
        bool found = false;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            Index pair = 1;
#pragma unroll
            for (u32 l = 0; l < DIM; l++) pair *= span(l, j);
            if (!found && index < pair) {
                found = true;
                face = j;
            }
            if (!found) index -= pair;
        }
        Coords offset;
#pragma unroll
        for (u32 l = 0; l < DIM; l++) {
            const u32 cells = span(l, face);
            u32 digit = u32(index);
            if (l + 1 < DIM) {
                digit = u32(index % cells);
                index /= cells;
            }
            offset[l] = l < face ? digit + 1 : l == face ? digit * (extent[l] - 1) : digit;
        }
        return offset;
    }

    DEVICE Coords cell(const Coords& offset) const {
        Coords cell;
#pragma unroll
        for (u32 j = 0; j < DIM; j++) cell[j] = corner[j] + offset[j];
        return cell;
    }

  private:
    DEVICE u32 span(u32 l, u32 j) const {
        if (l < j) return extent[l] > 2 ? extent[l] - 2 : 0;
        if (l == j) return extent[l] < 2 ? extent[l] : 2;
        return extent[l];
    }
};

// ⌊p·n/M⌋. Out of line, since 64-bit division is long and rarely needed.
__device__ __noinline__ u32 bound(u32 p, u32 n, u32 m) { return u32(u64(p) * n / m); }

// The region at `coords` of a level: cells ⌊p·n/M⌋ .. ⌊(p+1)·n/M⌋ on each axis, exactly. `side` is n/M where that is a
// whole number, else 0.
DEVICE Region region_at(const RunArgs& run, const LaunchArgs& launch, const Coords& coords) {
    Region region;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        if (launch.side[j] != 0) {
            region.corner[j] = coords[j] * launch.side[j];
            region.extent[j] = launch.side[j];
        } else {
            region.corner[j] = bound(coords[j], run.size[j], launch.grid[j]);
            region.extent[j] = bound(coords[j] + 1, run.size[j], launch.grid[j]) - region.corner[j];
        }
    }
    return region;
}

// The storage index of a cell: Σ c_j·∏_{i<j} n_i.
DEVICE u64 linear(const u32* size, const Coords& cell) {
    u64 index = 0;
#pragma unroll
    for (u32 i = 0; i < DIM; i++) index = index * size[DIM - 1 - i] + cell[DIM - 1 - i];
    return index;
}

// Stores a cell in the array, unless it is beyond the window.
DEVICE void store(const RunArgs& run, Coords cell, CellValue value) {
    if (run.windowed) {
#pragma unroll
        for (u32 j = 0; j < DIM; j++) {
            cell[j] -= run.corner[j]; // below the window it wraps to a large one
            if (cell[j] >= run.extent[j]) return;
        }
    }
    ((CellValue*)run.array)[linear(run.extent, cell)] = value;
}

// What the window shows of a region, counted from its lowest cell; false if that is nothing.
DEVICE bool clip(const RunArgs& run, Region& region) {
    bool some = true;
#pragma unroll
    for (u32 j = 0; j < DIM; j++) {
        const u32 low = region.corner[j] > run.corner[j] ? region.corner[j] : run.corner[j];
        const u64 end = u64(region.corner[j]) + region.extent[j], last = u64(run.corner[j]) + run.extent[j];
        const u64 high = end < last ? end : last;
        some = some && low < high;
        region.corner[j] = low - run.corner[j];
        region.extent[j] = u32(high - low);
    }
    return some;
}
