// Hierarchical codes over a forest of trees. Twin of src/curve/forest.rs.
//
// A code is tree · (positions in a tree) + position; the children of code c are c·R + i. The curve within a tree is
// `within<D>(launch, tree, position)`, which the including file defines.
#pragma once

// The coordinates of tree number `index`, in snake order: a digit is reflected where the number formed by the digits
// above it is odd.
template <u32 D> DEVICE Tuple<D> tree_coords(const u32* trees, u32 index) {
    Tuple<D> coords;
#pragma unroll
    for (u32 j = 0; j < D; j++) {
        coords[j] = index % trees[j];
        index /= trees[j];
    }
    bool odd = false;
#pragma unroll
    for (u32 i = 0; i < D; i++) {
        const u32 j = D - 1 - i;
        const u32 digit = coords[j];
        if (odd) coords[j] = trees[j] - 1 - digit;
        odd = (odd && trees[j] % 2 == 1) != (digit % 2 == 1);
    }
    return coords;
}

// In binary trees `positions` and `sides` are logarithms. A single tree may fill all bits of a code, so it is not shifted.
template <u32 D> DEVICE Tuple<D> curve_decode(const LaunchArgs& launch, Code code) {
    u32 tree = 0;
    u64 position = code;
    if (!launch.single_tree) {
        tree = u32(BINARY_TREES ? u64(code) >> launch.positions : u64(code) / launch.positions);
        position = BINARY_TREES ? u64(code) & ((1ull << launch.positions) - 1) : u64(code) % launch.positions;
    }
    Tuple<D> coords = within<D>(launch, tree, position);
    if (!launch.single_tree) {
        const Tuple<D> corner = tree_coords<D>(launch.trees, tree);
#pragma unroll
        for (u32 j = 0; j < D; j++) {
            coords[j] += BINARY_TREES ? u32(u64(corner[j]) << launch.sides[j]) : corner[j] * launch.sides[j];
        }
    }
    return coords;
}

DEVICE Coords curve_coords(const LaunchArgs& launch, Code code) { return curve_decode<DIM>(launch, code); }

DEVICE Entry curve_entry(const LaunchArgs& launch, Code code) { return {code, curve_decode<DIM>(launch, code)}; }

DEVICE Entry curve_root(const LaunchArgs& launch, u64 index) { return curve_entry(launch, Code(index)); }

DEVICE Entry curve_child(const LaunchArgs& launch, Code parent, u32 child) {
    const Code code = parent * CHILDREN + child;
    return {code, curve_decode<DIM>(launch, code)};
}

// The bits i with i mod (s·D) < s: groups of s bits, one in D.
template <u32 D> DEVICE constexpr u64 groups(u32 s) {
    u64 mask = 0;
    for (u32 i = 0; i < 64; i++) mask |= u64(i % (s * D) < s) << i;
    return mask;
}

// Moves bit D·i to bit i and drops the others.
template <u32 D> DEVICE u64 squash(u64 x) {
    constexpr u64 one = groups<D>(1), two = groups<D>(2), four = groups<D>(4), eight = groups<D>(8),
                  sixteen = groups<D>(16), all = groups<D>(32);
    x &= one;
    if (D > 1) {
        if (D < 64) x = (x | x >> (D - 1)) & two;
        if (2 * D < 64) x = (x | x >> (2 * (D - 1))) & four;
        if (4 * D < 64) x = (x | x >> (4 * (D - 1))) & eight;
        if (8 * D < 64) x = (x | x >> (8 * (D - 1)) % 64) & sixteen;
        if (16 * D < 64) x = (x | x >> (16 * (D - 1)) % 64) & all;
    }
    return x;
}

template <u32 D> DEVICE Tuple<D> deinterleave(u64 code) {
    Tuple<D> coords;
#pragma unroll
    for (u32 j = 0; j < D; j++) coords[j] = u32(squash<D>(code >> j));
    return coords;
}
