//! Morton order: the digits of the coordinates, interleaved.
//!
//! Bits are spread by shifts and masks ("magic bits"), which vectorise and need no special instruction. The crate
//! `zorder` is the oracle of the tests. It is not used here, since it names one code per call. Where r is not a power of two the order is
//! the z-order of base-r digits: the child of code c at digit vector d is c·R + Σ d_j·∏_{i<j} r_i. That keeps Morton,
//! the default curve, available for every scheme.

use crate::curve::forest::{Depth, Within};
use crate::per_axis;

/// The same power of two on every axis: plain bit interleaving.
pub(super) struct Interleaved;

impl<const K: usize> Within<K> for Interleaved {
    const TWIN: &'static str = "curves/morton.cuh";

    #[inline]
    fn position(&self, _: usize, _: Depth, local: [u32; K]) -> u64 {
        interleave(local)
    }

    #[inline]
    fn local(&self, _: usize, _: Depth, position: u64) -> [u32; K] {
        deinterleave(position)
    }
}

/// Powers of two that differ by axis: within a level, an axis whose bits are spent drops out; one with r = 1 has none.
pub(super) struct Uneven<const K: usize> {
    leading: u32,
    bits: [u32; K],
}

impl<const K: usize> Uneven<K> {
    pub(super) fn new(leading: u32, r: [u32; K]) -> Self {
        Self { leading, bits: r.map(u32::trailing_zeros) }
    }

    /// Calls `each(axis, bit)` for every bit of a position, the most significant first; `bit` is its place in the axis'
    /// local coordinate.
    fn for_each_bit(&self, level: u32, mut each: impl FnMut(usize, u32)) {
        for leading in (0..self.leading).rev() {
            (0..K).rev().for_each(|j| each(j, level * self.bits[j] + leading));
        }
        let widest = self.bits.iter().copied().max().unwrap_or(0);
        for below in (0..level).rev() {
            for bit in (0..widest).rev() {
                (0..K).rev().filter(|&j| bit < self.bits[j]).for_each(|j| each(j, below * self.bits[j] + bit));
            }
        }
    }
}

impl<const K: usize> Within<K> for Uneven<K> {
    const TWIN: &'static str = "curves/morton_uneven.cuh";

    fn position(&self, _: usize, depth: Depth, local: [u32; K]) -> u64 {
        let mut position = 0;
        self.for_each_bit(depth.level, |j, bit| position = position << 1 | u64::from(local[j] >> bit & 1));
        position
    }

    fn local(&self, _: usize, depth: Depth, position: u64) -> [u32; K] {
        let mut place = self.bits.iter().map(|bits| self.leading + depth.level * bits).sum::<u32>();
        let mut local = [0; K];
        self.for_each_bit(depth.level, |j, bit| {
            place -= 1;
            local[j] |= ((position >> place & 1) as u32) << bit;
        });
        local
    }
}

/// Any r: digits of base r_j, the most significant level first.
pub(super) struct MixedRadix<const K: usize> {
    r: [u32; K],
}

impl<const K: usize> MixedRadix<K> {
    pub(super) fn new(r: [u32; K]) -> Self {
        Self { r }
    }
}

impl<const K: usize> Within<K> for MixedRadix<K> {
    const TWIN: &'static str = "curves/morton_radix.cuh";

    fn position(&self, _: usize, depth: Depth, mut local: [u32; K]) -> u64 {
        let mut position = 0;
        let mut weight = 1;
        for _ in 0..depth.level {
            for j in 0..K {
                position += u64::from(local[j] % self.r[j]) * weight;
                local[j] /= self.r[j];
                // The last product may be 2^64; it is not used.
                weight = weight.wrapping_mul(u64::from(self.r[j]));
            }
        }
        position
    }

    fn local(&self, _: usize, depth: Depth, mut position: u64) -> [u32; K] {
        let mut local = [0; K];
        let mut weight = [1u32; K];
        for _ in 0..depth.level {
            for j in 0..K {
                local[j] += (position % u64::from(self.r[j])) as u32 * weight[j];
                position /= u64::from(self.r[j]);
                weight[j] = weight[j].wrapping_mul(self.r[j]);
            }
        }
        local
    }
}

/// Interleaves the bits of the coordinates, as many as there is room for.
#[inline]
pub(super) fn interleave<const K: usize>(c: [u32; K]) -> u64 {
    (0..K).fold(0, |code, j| code | spread::<K>(u64::from(c[j])) << j)
}

/// The inverse of [`interleave`].
#[inline]
pub(super) fn deinterleave<const K: usize>(code: u64) -> [u32; K] {
    per_axis::each(|j| squash::<K>(code >> j) as u32)
}

/// The bits i with i mod (s·k) < s: groups of s bits, one in k.
const fn groups(k: usize, s: u32) -> u64 {
    let mut mask = 0u64;
    let mut i = 0;
    while i < 64 {
        if i % (s as usize * k) < s as usize {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}

/// Moves bit i to bit k·i, for the 64/k (at most 32) bits for which there is room.
#[inline]
fn spread<const K: usize>(mut x: u64) -> u64 {
    macro_rules! step {
        ($($s:literal),+) => { $(if $s * K < 64 && K > 1 {
            x = (x | x << ($s * (K - 1))) & const { groups(K, $s) };
        })+ };
    }
    step!(16, 8, 4, 2, 1);
    x
}

/// Moves bit k·i to bit i and drops the others.
#[inline]
fn squash<const K: usize>(mut x: u64) -> u64 {
    x &= const { groups(K, 1) };
    macro_rules! step {
        ($($s:literal),+) => { $(if $s * K < 64 && K > 1 {
            x = (x | x >> ($s * (K - 1))) & const { groups(K, 2 * $s) };
        })+ };
    }
    step!(1, 2, 4, 8, 16);
    x
}
