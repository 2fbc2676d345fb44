//! The flat canonical order: row-major over the level's lattice, axis 0 fastest (ASK paper, eqs. 31-33).
//!
//! Decoding divides by the extents of the level. Where codes fit 32 bits the division is a multiplication by
//! ⌊(2^64 − 1)/d⌋ + 1, exact for dividend and divisor below 2^32; that constant wraps to 0 for d = 1, which stands for
//! "no division".

use crate::curve::device::DeviceCurve;
use crate::curve::encoding::Encoding;
use crate::curve::encoding::sealed::SealedCurve;
use crate::curve::lattice::{Lattice, below};
use crate::per_axis;

/// Row-major codes.
pub(super) struct Canonical<const K: usize> {
    lattice: Lattice<K>,
    /// Reciprocals of the extents per level, 0 for an extent of 1.
    reciprocals: Vec<[u64; K]>,
    /// True for levels whose codes fit 32 bits.
    narrow: Vec<bool>,
}

impl<const K: usize> Canonical<K> {
    pub(super) fn new(lattice: Lattice<K>) -> Self {
        let (mut reciprocals, mut narrow) = (Vec::new(), Vec::new());
        for level in 0..=lattice.deepest() {
            let grid = lattice.grid(level);
            reciprocals.push(per_axis::each(|j| (u64::MAX / u64::from(grid[j])).wrapping_add(1)));
            narrow.push(lattice.codes(level) <= 1 << 32);
        }
        Self { lattice, reciprocals, narrow }
    }
}

impl<const K: usize> SealedCurve for Canonical<K> {}

impl<const K: usize> Encoding<K> for Canonical<K> {
    fn lattice(&self) -> &Lattice<K> {
        &self.lattice
    }

    fn encode(&self, level: u32, coords: [u32; K]) -> u64 {
        let grid = self.lattice.grid(level);
        debug_assert!(below(&coords, &grid));
        let mut code = 0;
        for j in (0..K).rev() {
            code = code * u64::from(grid[j]) + u64::from(coords[j]);
        }
        code
    }

    fn decode(&self, level: u32, code: u64) -> [u32; K] {
        let grid = self.lattice.grid(level);
        let reciprocals = self.reciprocals[level as usize];
        let narrow = self.narrow[level as usize];
        let mut rest = code;
        let mut coords = [0; K];
        for j in 0..K - 1 {
            let extent = u64::from(grid[j]);
            let quotient = match reciprocals[j] {
                0 => rest,
                reciprocal if narrow => ((u128::from(rest) * u128::from(reciprocal)) >> 64) as u64,
                _ => rest / extent,
            };
            coords[j] = (rest - quotient * extent) as u32;
            rest = quotient;
        }
        coords[K - 1] = rest as u32;
        coords
    }

    fn device(&self, _: u32) -> DeviceCurve<'_> {
        DeviceCurve { header: "curves/canonical.cuh", ..DeviceCurve::default() }
    }

    fn children_from(&self, level: u32, code: u64, mut first: u64, codes: &mut [u64]) {
        let r = self.lattice.r;
        let (mut coords, mut digits) = (self.decode(level, code), [0; K]);
        for j in 0..K {
            digits[j] = (first % u64::from(r[j])) as u32;
            first /= u64::from(r[j]);
            coords[j] = coords[j] * r[j] + digits[j];
        }
        let grid = self.lattice.grid(level + 1);
        let mut child = self.encode(level + 1, coords);
        for slot in codes {
            *slot = child;
            // Counts up in mixed radix; a carry goes back to the first child on that axis and on to the next.
            let mut stride = 1;
            for j in 0..K {
                digits[j] += 1;
                child = child.wrapping_add(stride);
                if digits[j] < r[j] {
                    break;
                }
                digits[j] = 0;
                child = child.wrapping_sub(stride.wrapping_mul(u64::from(r[j])));
                stride = stride.wrapping_mul(u64::from(grid[j]));
            }
        }
    }
}
