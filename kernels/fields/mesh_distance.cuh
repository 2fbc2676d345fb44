// Distances from a mesh in a band about it, negative inside. Twin of src/field/mesh/distance.rs, blocks.rs and nearest.rs: the same products
// and sums in the same order.
#pragma once

// Members of FieldArgs are read at fixed places only.
#define FIELD_ARGS_BY_VALUE

#include "fields/mesh_rows.cuh"

// Cells of a block along an axis, as a power of two.
constexpr u32 BLOCK_BITS = 2;

// A triangle: its first corner in units of the lattice; in edges of cells the edges to the other two corners and their cross product; one
// over the squares of the lengths of these, of the third edge and of the cross product.
struct NearTriangle {
    double corner[3], b[3], c[3], normal[3];
    double of_b, of_c, of_third, of_normal;
};

DEVICE double dot(const double* a, const double* b) {
    return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]));
}

// The product of the cross product of a and b and of c.
DEVICE double triple(const double* a, const double* b, const double* c) {
    const double cross[3] = {add(mul(a[1], b[2]), -mul(a[2], b[1])), add(mul(a[2], b[0]), -mul(a[0], b[2])),
                             add(mul(a[0], b[1]), -mul(a[1], b[0]))};
    return dot(cross, c);
}

DEVICE double from_edge(const double* point, const double* edge, double inverse) {
    double along = mul(dot(point, edge), inverse);
    along = along < 0 ? 0 : along;
    along = along > 1 ? 1 : along;
    double beside[3];
#pragma unroll
    for (u32 j = 0; j < 3; j++) beside[j] = add(point[j], -mul(along, edge[j]));
    return dot(beside, beside);
}

// The square of the distance of a point, in units of the lattice, from a triangle.
DEVICE double from_triangle(const NearTriangle& near, const double* point, const double* unit) {
    double third[3], p[3], q[3];
#pragma unroll
    for (u32 j = 0; j < 3; j++) {
        third[j] = add(near.c[j], -near.b[j]);
        p[j] = mul(add(point[j], -near.corner[j]), unit[j]);
        q[j] = add(p[j], -near.b[j]);
    }
    const bool within = triple(near.b, p, near.normal) >= 0 && triple(third, q, near.normal) >= 0 &&
                        triple(p, near.c, near.normal) >= 0;
    if (within && near.of_normal > 0) {
        const double height = dot(p, near.normal);
        return mul(mul(height, height), near.of_normal);
    }
    double least = from_edge(p, near.b, near.of_b);
    const double to_c = from_edge(p, near.c, near.of_c), to_third = from_edge(q, third, near.of_third);
    least = to_c < least ? to_c : least;
    return to_third < least ? to_third : least;
}

// The blocks of a row of blocks: their places, and where their lists begin.
struct BlockRow {
    const u32* places;
    const u32* lists;
    u32 count = 0;

    DEVICE BlockRow(const FieldArgs& args, u32 y, u32 z) {
        const u32 plane = z - args.first_block; // below the first one it wraps to a large one
        if (plane >= args.count_blocks) return;
        const u64* const entry = (const u64*)args.block_planes + u64(5) * plane;
        const u64 row = u64(y) - entry[0];
        if (entry[1] == 0 || row >= entry[1]) return;
        const u32* const starts = (const u32*)args.block_rows + entry[2] + row;
        places = (const u32*)args.block_places + 2 * (entry[3] + starts[0]);
        lists = (const u32*)args.block_lists + 2 * entry[4];
        count = starts[1] - starts[0];
    }

    // The first block at a place or behind it.
    DEVICE u32 first_from(u32 x) const {
        u32 low = 0, high = count;
        while (low < high) {
            const u32 middle = low + (high - low) / 2;
            if (places[2 * middle] < x) low = middle + 1;
            else high = middle;
        }
        return low;
    }
};

// The square of the distance of a cell's sample from the nearest triangle; the square of the band if none is nearer.
DEVICE double nearest(const FieldArgs& args, const Coords& cell) {
    double least = mul(args.band, args.band);
    const BlockRow row(args, cell[1] >> BLOCK_BITS, cell[2] >> BLOCK_BITS);
    const u32 x = cell[0] >> BLOCK_BITS, block = row.first_from(x);
    if (block >= row.count || row.places[2 * block] != x) return least;
    double point[3], from_centre[3];
#pragma unroll
    for (u32 j = 0; j < 3; j++) {
        point[j] = double((i64(cell[j]) << args.bits) + i64(args.offset));
        const double cells = double(cell[j] & ((1u << BLOCK_BITS) - 1)) - ((1u << BLOCK_BITS) - 1) / 2.0;
        from_centre[j] = mul(cells, args.side[j]);
    }
    const double beside = root(dot(from_centre, from_centre));
    // The list of the next block begins where this one ends.
    const u32 end = row.places[2 * block + 3];
#pragma unroll 1
    for (u32 i = row.places[2 * block + 1]; i < end; i++) {
        // Neither this triangle nor a later one is nearer than that.
        const double gap = add(double(__uint_as_float(row.lists[2 * i + 1])), -beside);
        if (gap > 0 && mul(gap, gap) > least) break;
        const double other = from_triangle(((const NearTriangle*)args.triangles)[row.lists[2 * i]], point, args.unit);
        least = other < least ? other : least;
    }
    return least;
}

// A distance with its sign; 0 has none.
DEVICE float signed_as(const FieldArgs& args, const Coords& cell, float distance) {
    const bool inside = MeshRow(MeshPlane(args, cell[2]), cell[1]).passed(cell[0]) & 1;
    return inside && distance > 0 ? -distance : distance;
}

DEVICE Label label(const FieldArgs& args, const Coords& cell) {
    const double least = nearest(args, cell);
    const bool near = least < mul(args.band, args.band);
    return signed_as(args, cell, near ? float(mul(root(least), args.longest)) : args.beyond);
}

// Uniform if no block of the region has a triangle; else nothing is known.
DEVICE Verdict prove(const FieldArgs& args, const Region& region, Value& value) {
    u32 first[3], last[3];
#pragma unroll
    for (u32 j = 0; j < 3; j++) {
        first[j] = region.corner[j] >> BLOCK_BITS;
        last[j] = (region.corner[j] + (region.extent[j] - 1)) >> BLOCK_BITS;
    }
#pragma unroll 1
    for (u32 z = first[2]; z <= last[2]; z++) {
#pragma unroll 1
        for (u32 y = first[1]; y <= last[1]; y++) {
            const BlockRow row(args, y, z);
            const u32 block = row.first_from(first[0]);
            if (block < row.count && row.places[2 * block] <= last[0]) return UNKNOWN;
        }
    }
    value = Value(__float_as_uint(signed_as(args, region.corner, args.beyond)));
    return UNIFORM;
}
