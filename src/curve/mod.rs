//! Orders of the regions of a level: the map from region coordinates to a scalar code and back.
//!
//! An [`Encoding`] is one curve over the levels of one scheme {g, r}. On every level its codes are a bijection between
//! the level's lattice and 0..∏M_j: nothing is padded, so a code needs ⌈log2 ∏M_j⌉ bits and no more. Codes are `u64` in
//! this interface; a table stores fewer bytes where they suffice.
//!
//! `morton` and `hilbert` are hierarchical: the children of code c are exactly c·R + i, i = 0..R, written without
//! evaluating the curve. `canonical` is the flat row-major order of the papers (ASK paper, eqs. 31-33), which has no
//! such rule and must decode, scale and encode.
//!
//! Axis 0 is x, the fastest: bit j of every k-bit digit belongs to axis j.

mod canonical;
mod forest;
mod hilbert;
pub mod locality;
mod morton;

use crate::device::DeviceCurve;
use crate::registry::registry;

use canonical::Canonical;
use forest::Forest;
use hilbert::Hilbert;
use morton::{Interleaved, MixedRadix, Uneven};

/// What is wrong with a curve for a given {g, r} and depth.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CurveError {
    /// Hilbert needs r to be a power of two.
    #[error(
        "--curve hilbert: -r {r} on axis {axis} is not a power of two; use another r, or --curve morton or canonical"
    )]
    RadixNotPowerOfTwo {
        /// The axis.
        axis: usize,
        /// r on that axis.
        r: u32,
    },
    /// Hilbert needs the same r on every axis.
    #[error(
        "--curve hilbert: -r must be the same on every axis, but is {first} on axis 0 and {r} on axis {axis}; use --curve morton or canonical"
    )]
    UnequalRadix {
        /// r on axis 0.
        first: u32,
        /// The axis that differs.
        axis: usize,
        /// r on that axis.
        r: u32,
    },
    /// Hilbert keeps a start state per tree of its forest.
    #[error(
        "--curve hilbert: -g makes {trees} trees, more than 2^26; use a -g with a larger common power of two, or --curve morton"
    )]
    TooManyTrees {
        /// Trees: ∏ g_j after the common power of two is taken out.
        trees: u128,
    },
    /// A level has 2^32 regions or more on one axis.
    #[error("level {level} has 2^32 regions or more on axis {axis}; use a smaller -g or -r, or a larger -B")]
    CoordOverflow {
        /// The axis.
        axis: usize,
        /// The level.
        level: u32,
    },
    /// A level has more than 2^64 regions.
    #[error("the codes of level {level} need {bits} bits, and a code has 64; use a smaller -g or -r, or a larger -B")]
    CodeOverflow {
        /// The level.
        level: u32,
        /// Bits that its codes would need.
        bits: u32,
    },
    /// A level below the deepest that the encoding was made for.
    #[error("level {level} is below the deepest, {deepest}")]
    LevelOutOfRange {
        /// The level.
        level: u32,
        /// The deepest level of the encoding.
        deepest: u32,
    },
    /// A coordinate outside the level's lattice.
    #[error("coordinate {value} on axis {axis} is outside the lattice of {extent} regions")]
    CoordOutOfRange {
        /// The axis.
        axis: usize,
        /// The coordinate.
        value: u32,
        /// Regions on the axis.
        extent: u32,
    },
    /// A code that the level does not have.
    #[error("code {code} is not below the {codes} codes of its level")]
    CodeOutOfRange {
        /// The code.
        code: u64,
        /// Codes of the level.
        codes: u128,
    },
}

registry! {
    /// The curve that orders the regions of a level.
    pub enum CurveKind("curve") {
        /// Row-major over the level's grid, axis 0 fastest. Any g and r.
        Canonical = "canonical",
        /// Z-order: interleaved bits, or interleaved base-r digits where r is not a power of two. Any g and r.
        Morton = "morton",
        /// The Butz/Hamilton Hilbert curve, continuous over any g. r is one power of two on all axes.
        Hilbert = "hilbert",
    }
}

impl CurveKind {
    /// The curve over the levels 0..=`deepest` of the scheme {g, r}.
    ///
    /// # Errors
    /// [`CurveError`] if the curve cannot serve r, or the deepest level has too many regions.
    ///
    /// # Panics
    /// If some g is 0 or some r is below 2.
    pub fn encoding<const K: usize>(
        self,
        g: [u32; K],
        r: [u32; K],
        deepest: u32,
    ) -> Result<Box<dyn Encoding<K>>, CurveError> {
        assert!(g.iter().all(|&g| g >= 1) && r.iter().all(|&r| r >= 2), "g is at least 1 and r at least 2");
        let lattice = Lattice::new(g, r, deepest)?;
        if self == Self::Hilbert {
            if let Some(axis) = r.iter().position(|r| !r.is_power_of_two()) {
                return Err(CurveError::RadixNotPowerOfTwo { axis, r: r[axis] });
            }
            if let Some(axis) = r.iter().position(|&other| other != r[0]) {
                return Err(CurveError::UnequalRadix { first: r[0], axis, r: r[axis] });
            }
            let trees = g.iter().fold(1, |trees, &g| trees * u128::from(g)) >> (K as u32 * forest::leading(g));
            if trees > 1 << 26 {
                return Err(CurveError::TooManyTrees { trees });
            }
        }
        let binary = r.iter().all(|r| r.is_power_of_two());
        let even = r.iter().all(|&other| other == r[0]);
        Ok(match self {
            Self::Canonical => Box::new(Canonical::new(lattice)),
            Self::Morton if binary && even => Box::new(Forest::binary(lattice, |_, _| Interleaved)),
            Self::Morton if binary => Box::new(Forest::binary(lattice, |_, leading| Uneven::new(leading, r))),
            Self::Morton => Box::new(Forest::radix(lattice, MixedRadix::new(r))),
            Self::Hilbert => Box::new(Forest::binary(lattice, |trees, _| Hilbert::new(trees))),
        })
    }
}

/// The lattices M_j = g_j·r_j^i of every level, and what follows from their sizes alone.
#[derive(Debug, Clone)]
pub struct Lattice<const K: usize> {
    g: [u32; K],
    r: [u32; K],
    /// M per level.
    grids: Vec<[u32; K]>,
}

impl<const K: usize> Lattice<K> {
    fn new(g: [u32; K], r: [u32; K], deepest: u32) -> Result<Self, CurveError> {
        let mut grids = vec![g];
        for level in 1..=deepest {
            let mut grid = grids[level as usize - 1];
            for axis in 0..K {
                grid[axis] = grid[axis].checked_mul(r[axis]).ok_or(CurveError::CoordOverflow { axis, level })?;
            }
            grids.push(grid);
        }
        let lattice = Self { g, r, grids };
        // Eight axes of 32 bits are at most 256 bits: add logarithms first, then the product fits.
        let rough: f64 = lattice.grid(deepest).iter().map(|&m| f64::from(m).log2()).sum();
        if rough > 100.0 || lattice.codes(deepest) > 1 << 64 {
            return Err(CurveError::CodeOverflow { level: deepest, bits: (rough - 1e-9).ceil() as u32 });
        }
        Ok(lattice)
    }

    /// Regions per axis of `level`.
    pub fn grid(&self, level: u32) -> [u32; K] {
        self.grids[level as usize]
    }

    /// The deepest level.
    pub fn deepest(&self) -> u32 {
        self.grids.len() as u32 - 1
    }

    /// ∏M_j, the number of codes of `level`; at most 2^64.
    pub fn codes(&self, level: u32) -> u128 {
        self.grid(level).iter().map(|&m| u128::from(m)).product()
    }

    /// R = ∏r_j.
    fn children(&self) -> u64 {
        self.r.iter().map(|&r| u64::from(r)).product()
    }
}

/// One curve over the levels of one scheme.
///
/// `encode`, `decode` and `child` expect arguments in range, which debug builds assert; [`try_encode`](Self::try_encode)
/// and [`try_decode`](Self::try_decode) check.
pub trait Encoding<const K: usize>: Send + Sync {
    /// The lattices of the levels.
    fn lattice(&self) -> &Lattice<K>;

    /// The code of the region at `coords` on `level`.
    fn encode(&self, level: u32, coords: [u32; K]) -> u64;

    /// The coordinates of `code` on `level`.
    fn decode(&self, level: u32, code: u64) -> [u32; K];

    /// The codes, on `level + 1` and in ascending order of child, of the R children of `code` on `level`.
    fn children(&self, level: u32, code: u64, codes: &mut [u64]);

    /// What the same curve needs on a GPU to decode the codes of `level`.
    fn device(&self, level: u32) -> DeviceCurve<'_>;

    /// Bits that the codes of `level` need: ⌈log2 ∏M_j⌉.
    fn bits(&self, level: u32) -> u32 {
        128 - (self.lattice().codes(level) - 1).leading_zeros()
    }

    /// [`encode`](Self::encode) for many; the slices have equal length.
    fn encode_slice(&self, level: u32, coords: &[[u32; K]], codes: &mut [u64]) {
        coords.iter().zip(codes).for_each(|(&coords, code)| *code = self.encode(level, coords));
    }

    /// [`decode`](Self::decode) for many; the slices have equal length.
    fn decode_slice(&self, level: u32, codes: &[u64], coords: &mut [[u32; K]]) {
        codes.iter().zip(coords).for_each(|(&code, coords)| *coords = self.decode(level, code));
    }

    /// [`encode`](Self::encode) with its arguments checked.
    ///
    /// # Errors
    /// [`CurveError`] if the level or a coordinate is out of range.
    fn try_encode(&self, level: u32, coords: [u32; K]) -> Result<u64, CurveError> {
        let lattice = self.lattice();
        if level > lattice.deepest() {
            return Err(CurveError::LevelOutOfRange { level, deepest: lattice.deepest() });
        }
        let grid = lattice.grid(level);
        match (0..K).find(|&j| coords[j] >= grid[j]) {
            Some(axis) => Err(CurveError::CoordOutOfRange { axis, value: coords[axis], extent: grid[axis] }),
            None => Ok(self.encode(level, coords)),
        }
    }

    /// [`decode`](Self::decode) with its arguments checked.
    ///
    /// # Errors
    /// [`CurveError`] if the level or the code is out of range.
    fn try_decode(&self, level: u32, code: u64) -> Result<[u32; K], CurveError> {
        let lattice = self.lattice();
        if level > lattice.deepest() {
            return Err(CurveError::LevelOutOfRange { level, deepest: lattice.deepest() });
        }
        let codes = lattice.codes(level);
        if u128::from(code) >= codes {
            return Err(CurveError::CodeOutOfRange { code, codes });
        }
        Ok(self.decode(level, code))
    }
}

#[cfg(test)]
mod tests;
