//! The lattice of cells and the window it samples.
//!
//! A domain is k extents in cells and an interval [lo_j, hi_j] per axis in the workload's own coordinates. The sample
//! point of cell c on axis j is `fma(c_j + o, h_j, lo_j)` with `h_j = (hi_j - lo_j) / n_j`, computed once in f64 and
//! then rounded to the run's precision. Everything downstream that needs a coordinate starts from these numbers, so
//! that every backend samples the same points to the bit.

use crate::plan::PlanError;
use crate::region::Region;
use crate::registry::registry;

registry! {
    /// Where in a cell its sample lies.
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

/// A k-dimensional lattice of cells over a window.
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
    /// [`PlanError`] if K is not in 1..=8, an extent is 0, or an interval is reversed, empty, NaN or infinite.
    pub fn new(size: [u32; K], window: [[f64; 2]; K], sample: Sample) -> Result<Self, PlanError> {
        if !(1..=crate::MAX_DIM).contains(&K) {
            return Err(PlanError::Dimensions { k: K });
        }
        for axis in 0..K {
            if size[axis] == 0 {
                return Err(PlanError::EmptyAxis { axis });
            }
            let [lo, hi] = window[axis];
            if !(lo.is_finite() && hi.is_finite() && (hi - lo).is_finite()) {
                return Err(PlanError::WindowNotFinite { axis, lo, hi });
            }
            if lo >= hi {
                return Err(PlanError::WindowReversed { axis, lo, hi });
            }
        }
        Ok(Self { size, window, sample })
    }

    /// Cells per axis.
    pub fn size(&self) -> [u32; K] {
        self.size
    }

    /// `[lo, hi]` per axis, in the workload's coordinates.
    pub fn window(&self) -> [[f64; 2]; K] {
        self.window
    }

    /// Where in a cell its sample lies.
    pub fn sample(&self) -> Sample {
        self.sample
    }

    /// The cell pitch h_j per axis, in the workload's coordinates.
    pub fn pitch(&self) -> [f64; K] {
        std::array::from_fn(|j| (self.window[j][1] - self.window[j][0]) / f64::from(self.size[j]))
    }

    /// The number of cells; beyond 64 bits for large k, hence u128.
    pub fn cells(&self) -> u128 {
        // Eight axes of 32 bits are 256 bits: saturate, every limit lies far below.
        self.size.iter().fold(1u128, |cells, &n| cells.saturating_mul(u128::from(n)))
    }

    /// The whole domain as one region.
    pub fn region(&self) -> Region<K> {
        Region { corner: [0; K], extent: self.size }
    }
}
