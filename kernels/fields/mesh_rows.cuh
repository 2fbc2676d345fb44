// The rows of a set of cells along axis 0: where each enters the set or leaves it. Twin of src/field/mesh/rows.rs.
#pragma once

// The rows of a plane of axis 2. There are `count` of them, from `first` on.
struct MeshPlane {
    u64 first, count;
    const u32 *starts, *changes;

    DEVICE MeshPlane(const FieldArgs& args, u32 z) : count(0) {
        const u32 plane = z - args.first; // below the first one it wraps to a large one
        if (plane >= args.count) return;
        const u64* const entry = (const u64*)args.planes + u64(4) * plane;
        first = entry[0];
        count = entry[1];
        starts = (const u32*)args.starts + entry[2];
        changes = (const u32*)args.changes + entry[3];
    }
};

// The changes of a row, in ascending order.
struct MeshRow {
    const u32* changes;
    u32 count = 0;

    DEVICE MeshRow(const MeshPlane& plane, u32 y) {
        const u64 row = u64(y) - plane.first;
        if (plane.count == 0 || row >= plane.count) return;
        const u32 start = plane.starts[row];
        changes = plane.changes + start;
        count = plane.starts[row + 1] - start;
    }

    // How many of them are at a cell or before it.
    DEVICE u32 passed(u32 x) const {
        u32 low = 0, high = count;
        while (low < high) {
            const u32 middle = low + (high - low) / 2;
            if (changes[middle] <= x) low = middle + 1;
            else high = middle;
        }
        return low;
    }
};
