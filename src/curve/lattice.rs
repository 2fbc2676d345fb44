//! The lattices that codes name.

use crate::curve::error::CurveError;
use crate::geometry::grids;

/// The lattices M_j = g_j·r_j^i of every level, and what follows from their sizes alone.
#[derive(Debug, Clone)]
pub struct Lattice<const K: usize> {
    pub(super) g: [u32; K],
    pub(super) r: [u32; K],
    /// M per level.
    grids: Vec<[u32; K]>,
}

impl<const K: usize> Lattice<K> {
    pub(super) fn new(g: [u32; K], r: [u32; K], deepest: u32) -> Result<Self, CurveError> {
        let grids = (0..=deepest).zip(grids(g, r));
        let grids = grids.map(|(level, grid)| grid.map_err(|axis| CurveError::CoordOverflow { axis, level }));
        let grids = grids.collect::<Result<_, _>>()?;
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

    /// R = ∏r_j; the largest number where that is more, which a lattice of a single level may have.
    pub(super) fn children(&self) -> u64 {
        self.r.iter().fold(1, |children: u64, &r| children.saturating_mul(r.into()))
    }
}
