//! The lattice of cells and the window it samples.
//!
//! A domain is k extents in cells and an interval [lo_j, hi_j] per axis in the field's own coordinates. The sample
//! point of cell c on axis j is `fma(c_j + o, h_j, lo_j)` with `h_j = (hi_j - lo_j) / n_j`, computed once in f64 and
//! then rounded to the run's precision. Everything downstream that needs a coordinate starts from these numbers, so
//! that every backend samples the same points to the bit.

use crate::dimension::MAX_DIM;
use crate::geometry::region::Region;
use crate::per_axis;
use crate::registry::registry;

registry! {
    /// Where in a cell its sample lies.
    ///
    /// ```
    /// use orthant::geometry::{Domain, Sample};
    ///
    /// // Cells of two units that begin at 10: cell 3 covers 16 to 18.
    /// let domain = Domain::new([5], [[10.0, 20.0]], Sample::Centre)?;
    /// let point = |sample: Sample| domain.window()[0][0] + (3.0 + sample.offset()) * domain.pitch()[0];
    /// assert_eq!((point(Sample::Corner), point(Sample::Centre)), (16.0, 17.0));
    /// # Ok::<(), orthant::geometry::DomainError>(())
    /// ```
    pub enum Sample("sample") {
        /// o = 0: the papers' choice and the default in 2-D.
        Corner = "corner",
        /// o = 0.5: the default for k ≥ 3, so that no sample lies on a symmetry plane.
        Centre = "centre",
    }
}

impl Sample {
    /// The default for `k` dimensions.
    pub fn default_for(k: usize) -> Self {
        if k <= 2 { Self::Corner } else { Self::Centre }
    }

    /// The offset o, in cells.
    pub fn offset(self) -> f64 {
        match self {
            Self::Corner => 0.0,
            Self::Centre => 0.5,
        }
    }
}

/// What is wrong with a domain: one of its numbers, and what would be allowed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DomainError {
    /// K out of range.
    #[error("dim {k}: between 1 and {} dimensions are supported", MAX_DIM)]
    Dimensions {
        /// The number asked for.
        k: usize,
    },
    /// n_j = 0.
    #[error("size 0 on axis {axis}: at least 1 cell is needed")]
    EmptyAxis {
        /// The axis.
        axis: usize,
    },
    /// lo ≥ hi.
    #[error("domain: axis {axis} runs from {lo:?} to {hi:?}; the lower end must be below the upper")]
    WindowReversed {
        /// The axis.
        axis: usize,
        /// The lower end.
        lo: f64,
        /// The upper end.
        hi: f64,
    },
    /// NaN or infinite.
    #[error("domain: axis {axis} runs from {lo:?} to {hi:?}; both ends and their distance must be finite numbers")]
    WindowNotFinite {
        /// The axis.
        axis: usize,
        /// The lower end.
        lo: f64,
        /// The upper end.
        hi: f64,
    },
}

/// A k-dimensional lattice of cells, and the window in the field's coordinates that they cover.
///
/// ```
/// use orthant::geometry::{Domain, DomainError, Sample};
///
/// // Ten cells over five units: each is half a unit long.
/// let domain = Domain::new([10, 4], [[0.0, 5.0], [0.0, 1.0]], Sample::Centre)?;
/// assert_eq!((domain.cells(), domain.pitch()), (40, [0.5, 0.25]));
/// assert_eq!(domain.cell_at([1.2, 0.9]), Some([2, 3]));
/// assert_eq!(domain.cell_at([5.1, 0.5]), None);
/// let empty = Domain::new([10, 0], [[0.0, 5.0], [0.0, 1.0]], Sample::Centre);
/// assert_eq!(empty, Err(DomainError::EmptyAxis { axis: 1 }));
/// # Ok::<(), DomainError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Domain<const K: usize> {
    size: [u32; K],
    window: [[f64; 2]; K],
    sample: Sample,
}

impl<const K: usize> Domain<K> {
    /// A domain of `size` cells over `window` (`[lo, hi]` per axis).
    ///
    /// # Errors
    /// [`DomainError`] if K is not in 1..=8, an extent is 0, or an interval is reversed, empty, NaN or infinite.
    pub fn new(size: [u32; K], window: [[f64; 2]; K], sample: Sample) -> Result<Self, DomainError> {
        if !(1..=MAX_DIM).contains(&K) {
            return Err(DomainError::Dimensions { k: K });
        }
        for axis in 0..K {
            if size[axis] == 0 {
                return Err(DomainError::EmptyAxis { axis });
            }
            let [lo, hi] = window[axis];
            if !(lo.is_finite() && hi.is_finite() && (hi - lo).is_finite()) {
                return Err(DomainError::WindowNotFinite { axis, lo, hi });
            }
            if lo >= hi {
                return Err(DomainError::WindowReversed { axis, lo, hi });
            }
        }
        Ok(Self { size, window, sample })
    }

    /// Cells per axis.
    pub fn size(&self) -> [u32; K] {
        self.size
    }

    /// `[lo, hi]` per axis, in the field's coordinates.
    pub fn window(&self) -> [[f64; 2]; K] {
        self.window
    }

    /// Where in a cell its sample lies.
    pub fn sample(&self) -> Sample {
        self.sample
    }

    /// The cell pitch h_j per axis, in the field's coordinates.
    pub fn pitch(&self) -> [f64; K] {
        per_axis::each(|j| (self.window[j][1] - self.window[j][0]) / f64::from(self.size[j]))
    }

    /// Where the window begins on each axis.
    #[doc(hidden)]
    pub fn low(&self) -> [f64; K] {
        per_axis::each(|j| self.window[j][0])
    }

    /// The cell that holds a point of the field's coordinates; None if the point lies outside the window.
    ///
    /// Cell c covers lo + c·h up to, but without, lo + (c+1)·h. The upper end of the window belongs to the last cell.
    ///
    /// In a very narrow window several cells can begin at the same double, and their samples coincide. The answer is
    /// then one of these cells, not always the one that you sampled.
    pub fn cell_at(&self, point: [f64; K]) -> Option<[u32; K]> {
        let inside = (0..K).all(|j| (self.window[j][0]..=self.window[j][1]).contains(&point[j]));
        inside.then(|| per_axis::each(|j| self.cell_on(j, point[j])))
    }

    /// The cell on an axis that holds a coordinate of the window.
    pub(crate) fn cell_on(&self, axis: usize, x: f64) -> u32 {
        let [lo, hi] = self.window[axis];
        let pitch = (hi - lo) / f64::from(self.size[axis]);
        // The quotient is rounded, by less than a cell; where a cell begins is what samples are taken by.
        let begins = |c: u32| f64::from(c).mul_add(pitch, lo);
        let last = self.size[axis] - 1;
        let c = (((x - lo) / pitch) as u32).min(last);
        if begins(c) > x {
            c.saturating_sub(1)
        } else if c < last && begins(c + 1) <= x {
            c + 1
        } else {
            c
        }
    }

    /// The number of cells. It can exceed 64 bits in many dimensions.
    pub fn cells(&self) -> u128 {
        // Eight axes of 32 bits are 256 bits: saturated, every limit lies far below.
        self.region().cells_wide()
    }

    /// The whole domain as one region.
    pub fn region(&self) -> Region<K> {
        Region { corner: [0; K], extent: self.size }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A sample lies in its own cell, wherever in it; a point before the first and after the last in none.
    #[test]
    fn points_lie_in_cells() {
        for sample in [Sample::Corner, Sample::Centre] {
            for (n, lo, hi) in [(7, -1.5, 0.5), (1000, 0.1, 0.3), (1 << 20, -1e-3, 1e3), (3, 1.0, 1.0000001)] {
                let domain = Domain::new([n], [[lo, hi]], sample).unwrap();
                let [pitch] = domain.pitch();
                for c in (0..n).step_by(1 + n as usize / 999) {
                    let point = (f64::from(c) + sample.offset()).mul_add(pitch, lo);
                    assert_eq!(domain.cell_at([point]), Some([c]), "{n} {lo} {hi}");
                }
                assert_eq!([lo, hi].map(|end| domain.cell_at([end])), [Some([0]), Some([n - 1])]);
                let outside = [lo.next_down(), hi.next_up(), f64::NAN, f64::INFINITY];
                assert_eq!(outside.map(|point| domain.cell_at([point])), [None; 4]);
            }
        }
    }

    /// Among cells that begin at the same number, one of them.
    #[test]
    fn points_of_coinciding_cells_lie_in_one_of_them() {
        for hi in [1.0f64.next_up(), 1.0 + 3.0 * f64::EPSILON] {
            let domain = Domain::new([1000], [[1.0, hi]], Sample::Corner).unwrap();
            let begins = |c: u32| f64::from(c).mul_add(domain.pitch()[0], 1.0);
            for point in (0..1000).map(begins) {
                let [c] = domain.cell_at([point]).unwrap();
                assert_eq!(begins(c), point);
            }
        }
    }

    #[test]
    fn errors_name_the_number() {
        let window = |lo, hi| Domain::new([4], [[lo, hi]], Sample::Corner).unwrap_err();
        assert_eq!(window(1.0, 1.0), DomainError::WindowReversed { axis: 0, lo: 1.0, hi: 1.0 });
        assert!(window(1e308, -1e308).to_string().contains("from 1e308 to -1e308"));
        assert!(matches!(window(f64::NAN, 1.0), DomainError::WindowNotFinite { axis: 0, .. }));
        assert!(matches!(window(-f64::MAX, f64::MAX), DomainError::WindowNotFinite { axis: 0, .. }));
        assert_eq!(Domain::new([4, 0], [[0.0, 1.0]; 2], Sample::Corner), Err(DomainError::EmptyAxis { axis: 1 }));
        assert_eq!(Domain::new([4; 9], [[0.0, 1.0]; 9], Sample::Corner), Err(DomainError::Dimensions { k: 9 }));
    }
}
