//! A forest of trees: hierarchical curves over any initial grid.
//!
//! The initial grid is cut into trees; a code is `tree · (positions in a tree) + position`, so codes are dense and the
//! children of code c are c·R + i on every level. Where r is a power of two, the common power of two 2^q of all g_j
//! belongs to the trees: g = 64 is one tree with q = 6 leading binary levels, and plain Hilbert (and Morton) order.
//!
//! Trees follow a snake (reflected mixed radix, axis 0 fastest), so that neighbours in the order share a face; a curve
//! that can enter and leave a tree at chosen corners, as Hilbert's, then runs on from tree to tree without a jump.
//! These rules are part of any stored format.

use crate::abi::padded;
use crate::curve::device::DeviceCurve;
use crate::curve::encoding::Encoding;
use crate::curve::encoding::sealed::SealedCurve;
use crate::curve::lattice::{Lattice, below};
use crate::geometry::volume;
use crate::per_axis;

/// The order of positions within one tree.
pub(super) trait Within<const K: usize>: Send + Sync {
    /// Its twin among the kernels.
    const TWIN: &'static str;

    /// The start state of every tree, for orders that have one.
    fn starts(&self) -> &[u16] {
        &[]
    }
    /// The position of the region at `local` in tree number `tree`; `levels` binary levels deep, or at `level`.
    fn position(&self, tree: usize, depth: Depth, local: [u32; K]) -> u64;
    /// The inverse of [`position`](Self::position).
    fn local(&self, tree: usize, depth: Depth, position: u64) -> [u32; K];
}

/// How deep a level lies in its tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    /// The level of the scheme.
    pub(super) level: u32,
    /// Binary levels on axis 0, the leading ones included; 0 for orders that are not binary.
    pub(super) bits: u32,
}

/// Hierarchical codes over a forest.
pub(super) struct Forest<const K: usize, W> {
    lattice: Lattice<K>,
    trees: Trees<K>,
    within: W,
    levels: Vec<TreeLevel<K>>,
    /// R; a power of two for binary trees.
    children: u64,
    /// q: the leading binary levels of a tree.
    leading: u32,
}

/// The sizes of a tree on one level.
struct TreeLevel<const K: usize> {
    depth: Depth,
    /// Regions per axis of one tree, as binary logarithms or as they are.
    sides: Sides<K>,
    /// Regions of one tree.
    positions: u128,
}

enum Sides<const K: usize> {
    Binary([u32; K]),
    Any([u32; K]),
}

impl<const K: usize, W: Within<K>> Forest<K, W> {
    /// A forest for r_j = 2^m_j, whose trees have q = `leading` binary levels before the first of the scheme.
    pub(super) fn binary(lattice: Lattice<K>, leading: u32, within: W) -> Self {
        let levels = (0..=lattice.deepest()).map(|level| TreeLevel::binary(&lattice.r, leading, level)).collect();
        let trees = Trees::new(lattice.g, leading);
        Self { trees, within, levels, children: lattice.children(), leading, lattice }
    }

    /// A forest for any r: every initial region is a tree.
    pub(super) fn radix(lattice: Lattice<K>, within: W) -> Self {
        let levels = (0..=lattice.deepest()).map(|level| TreeLevel::any(&lattice.r, level)).collect();
        let trees = Trees { extents: lattice.g };
        Self { trees, within, levels, children: lattice.children(), leading: 0, lattice }
    }
}

impl<const K: usize> TreeLevel<K> {
    fn binary(r: &[u32; K], leading: u32, level: u32) -> Self {
        let (mut bits, mut all) = ([0; K], 0);
        for j in 0..K {
            bits[j] = leading + level * r[j].trailing_zeros();
            all += bits[j];
        }
        Self { depth: Depth { level, bits: bits[0] }, sides: Sides::Binary(bits), positions: 1 << all }
    }

    fn any(r: &[u32; K], level: u32) -> Self {
        let (mut sides, mut positions) = ([0; K], 1);
        for j in 0..K {
            sides[j] = r[j].pow(level);
            positions *= u128::from(sides[j]);
        }
        Self { depth: Depth { level, bits: 0 }, sides: Sides::Any(sides), positions }
    }
}

impl<const K: usize, W: Within<K>> SealedCurve for Forest<K, W> {}

impl<const K: usize, W: Within<K>> Encoding<K> for Forest<K, W> {
    fn lattice(&self) -> &Lattice<K> {
        &self.lattice
    }

    #[inline]
    fn encode(&self, level: u32, coords: [u32; K]) -> u64 {
        debug_assert!(below(&coords, &self.lattice.grid(level)));
        let TreeLevel { depth, sides, positions } = &self.levels[level as usize];
        if self.trees.single() {
            return self.within.position(0, *depth, coords);
        }
        let (mut tree, mut local) = (coords, coords);
        match sides {
            Sides::Binary(bits) => {
                for j in 0..K {
                    // More than one tree, so a tree has fewer than 32 bits per axis, or its axis has one tree.
                    tree[j] = (u64::from(coords[j]) >> bits[j]) as u32;
                    local[j] = (u64::from(coords[j]) & ((1 << bits[j]) - 1)) as u32;
                }
            }
            Sides::Any(sides) => {
                for j in 0..K {
                    (tree[j], local[j]) = (coords[j] / sides[j], coords[j] % sides[j]);
                }
            }
        }
        let tree = self.trees.index(tree);
        tree as u64 * *positions as u64 + self.within.position(tree, *depth, local)
    }

    #[inline]
    fn decode(&self, level: u32, code: u64) -> [u32; K] {
        debug_assert!(u128::from(code) < self.lattice.codes(level));
        let TreeLevel { depth, sides, positions } = &self.levels[level as usize];
        if self.trees.single() {
            return self.within.local(0, *depth, code);
        }
        // More than one tree, so the positions of one fit 64 bits.
        let positions = *positions as u64;
        let (index, position) = match sides {
            Sides::Binary(_) => (code >> positions.trailing_zeros(), code & (positions - 1)),
            Sides::Any(_) => (code / positions, code % positions),
        };
        let tree = self.trees.coords(index as usize);
        let mut coords = self.within.local(index as usize, *depth, position);
        match sides {
            Sides::Binary(bits) => {
                for j in 0..K {
                    coords[j] |= (u64::from(tree[j]) << bits[j]) as u32;
                }
            }
            Sides::Any(sides) => {
                for j in 0..K {
                    coords[j] += tree[j] * sides[j];
                }
            }
        }
        coords
    }

    fn encode_slice(&self, level: u32, coords: &[[u32; K]], codes: &mut [u64]) {
        if self.trees.single() {
            // The test out of the loop, so that Morton vectorises.
            let depth = self.levels[level as usize].depth;
            for (&coords, code) in coords.iter().zip(codes) {
                *code = self.within.position(0, depth, coords);
            }
        } else {
            for (&coords, code) in coords.iter().zip(codes) {
                *code = self.encode(level, coords);
            }
        }
    }

    fn decode_slice(&self, level: u32, codes: &[u64], coords: &mut [[u32; K]]) {
        if self.trees.single() {
            let depth = self.levels[level as usize].depth;
            for (&code, coords) in codes.iter().zip(coords) {
                *coords = self.within.local(0, depth, code);
            }
        } else {
            for (&code, coords) in codes.iter().zip(coords) {
                *coords = self.decode(level, code);
            }
        }
    }

    fn device(&self, level: u32) -> DeviceCurve<'_> {
        let TreeLevel { sides, positions, .. } = &self.levels[level as usize];
        let (binary, sides, positions) = match sides {
            Sides::Binary(bits) => (true, bits, u64::from(positions.trailing_zeros())),
            // Not used where a single tree fills 64 bits.
            Sides::Any(sides) => (false, sides, *positions as u64),
        };
        DeviceCurve {
            header: W::TWIN,
            binary,
            single_tree: self.trees.single(),
            trees: padded(self.trees.extents),
            sides: padded(*sides),
            positions,
            leading: self.leading,
            starts: self.within.starts(),
        }
    }

    fn children_from(&self, level: u32, code: u64, first: u64, codes: &mut [u64]) {
        debug_assert!(level < self.lattice.deepest() && first + codes.len() as u64 <= self.children);
        let first = code * self.children + first;
        for (i, slot) in codes.iter_mut().enumerate() {
            // The last code of all may be 2^64 - 1.
            *slot = first.wrapping_add(i as u64);
        }
    }
}

/// q: the exponent of the largest power of two that divides every g_j.
pub(super) fn leading(g: &[u32]) -> u32 {
    g.iter().map(|g| g.trailing_zeros()).min().unwrap_or(0)
}

/// The trees of a forest in snake order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Trees<const K: usize> {
    /// Trees per axis.
    extents: [u32; K],
}

impl<const K: usize> Trees<K> {
    /// Of 2^q regions of the initial grid g per axis.
    pub(super) fn new(g: [u32; K], leading: u32) -> Self {
        Self { extents: per_axis::each(|j| g[j] >> leading) }
    }

    /// The number of trees.
    pub(super) fn count(&self) -> usize {
        volume(&self.extents) as usize
    }

    fn single(&self) -> bool {
        self.extents == [1; K]
    }

    /// The coordinates of tree `index`. A digit is reflected where the number formed by the digits above it is odd.
    pub(super) fn coords(&self, index: usize) -> [u32; K] {
        let mut digits = [0; K];
        let mut rest = index;
        for j in 0..K {
            digits[j] = (rest % self.extents[j] as usize) as u32;
            rest /= self.extents[j] as usize;
        }
        self.reflect(digits, |digit, _| digit)
    }

    /// The index of the tree at `coords`.
    fn index(&self, coords: [u32; K]) -> usize {
        let digits = self.reflect(coords, |_, reflected| reflected);
        (0..K).rev().fold(0, |index, j| index * self.extents[j] as usize + digits[j] as usize)
    }

    /// Reflects what needs it, from the slowest axis down; `digit(before, after)` says which of the two is the digit of
    /// the tree's number, whose parity counts.
    fn reflect(&self, values: [u32; K], digit: impl Fn(u32, u32) -> u32) -> [u32; K] {
        let mut reflected = values;
        let mut odd = false;
        for j in (0..K).rev() {
            if odd {
                reflected[j] = self.extents[j] - 1 - values[j];
            }
            let digit = digit(values[j], reflected[j]);
            odd = (odd && self.extents[j] % 2 == 1) != (digit % 2 == 1);
        }
        reflected
    }
}
