//! The lattices that codes name.

use crate::curve::error::CurveError;
use crate::geometry::{refine, saturated};

/// The lattices M_j = g_j·r_j^i of every level, and what follows from their sizes alone.
///
/// ```
/// use orthant::curve::CurveKind;
///
/// let curve = CurveKind::Morton.encoding([3, 1], [2, 2], 2)?;
/// let lattice = curve.lattice();
/// assert_eq!((lattice.grid(0), lattice.grid(2)), ([3, 1], [12, 4]));
/// assert_eq!((lattice.deepest(), lattice.codes(2)), (2, 48));
/// # Ok::<(), orthant::curve::CurveError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Lattice<const K: usize> {
    pub(super) g: [u32; K],
    pub(super) r: [u32; K],
    /// M per level.
    grids: Vec<[u32; K]>,
}

impl<const K: usize> Lattice<K> {
    pub(super) fn new(g: [u32; K], r: [u32; K], deepest: u32) -> Result<Self, CurveError> {
        let (mut grid, mut grids) = (g, vec![g]);
        for level in 1..=deepest {
            refine(&mut grid, &r).map_err(|axis| CurveError::CoordOverflow { axis, level })?;
            grids.push(grid);
        }
        check_codes(&grid, deepest)?;
        Ok(Self { g, r, grids })
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
        codes(&self.grid(level))
    }

    /// R = ∏r_j; the largest number where that is more, which a lattice of a single level may have.
    pub(super) fn children(&self) -> u64 {
        saturated(&self.r)
    }
}

/// Checks that codes of a lattice fit 64 bits.
fn check_codes(grid: &[u32], level: u32) -> Result<(), CurveError> {
    // Eight axes of 32 bits are at most 256 bits: add logarithms first, then the product fits.
    let rough: f64 = grid.iter().map(|&m| f64::from(m).log2()).sum();
    if rough > 100.0 || codes(grid) > 1 << 64 {
        return Err(CurveError::CodeOverflow { level, bits: (rough - 1e-9).ceil() as u32 });
    }
    Ok(())
}

fn codes(grid: &[u32]) -> u128 {
    grid.iter().map(|&m| u128::from(m)).product()
}

/// True if every coordinate is less than the extent of its axis.
pub(super) fn below(coords: &[u32], extents: &[u32]) -> bool {
    coords.iter().zip(extents).all(|(coord, extent)| coord < extent)
}
