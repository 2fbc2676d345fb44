//! An orbit that is started from the cells of a domain.

use std::marker::PhantomData;

use crate::field::escape::enclosure::{Hull, own_numbers};
use crate::field::escape::orbit::{Orbit, Rounding};
use crate::field::options::Precision;
use crate::geometry::{Domain, Region};
use crate::per_axis;
use crate::simd::{Isa, Real};

/// An escape-time field over a domain.
pub(crate) struct EscapeField<const K: usize, const V: usize, O, T, A> {
    pub(super) domain: Domain<K>,
    low: [T; K],
    pitch: [T; K],
    offset: T,
    pub(super) dwell: u32,
    pub(super) isa: Isa,
    /// What certificates compute in.
    pub(super) own: Precision,
    pub(super) dimension: f64,
    orbit: PhantomData<(O, A)>,
}

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> EscapeField<K, V, O, T, A> {
    /// The field over `domain` with dwell cap `dwell`; `dimension` is the box dimension to expect of its level sets.
    pub(crate) fn new(domain: &Domain<K>, dwell: u32, dimension: f64) -> Self {
        Self {
            domain: *domain,
            low: domain.window().map(|[low, _]| T::from_f64(low)),
            pitch: domain.pitch().map(T::from_f64),
            offset: T::from_f64(domain.sample().offset()),
            dwell,
            isa: Isa::detect(),
            own: own_numbers::<T>(&domain.pitch()),
            dimension,
            orbit: PhantomData,
        }
    }

    /// The sample point of a cell: x_j = (c_j + o)·h_j + lo_j.
    #[inline(always)]
    fn sample(&self, cell: [u32; K]) -> [T; K] {
        per_axis::each(|j| A::mul_add(T::from_u32(cell[j]) + self.offset, self.pitch[j], self.low[j]))
    }

    /// The first state of a cell.
    #[inline(always)]
    pub(super) fn start(&self, cell: [u32; K]) -> [T; V] {
        O::start(self.sample(cell))
    }

    /// The box of the samples of a region's cells, as they are computed; None if it reaches too far.
    #[inline(always)]
    pub(super) fn hull<N: Real>(&self, region: &Region<K>) -> Option<Hull<N, K>> {
        let last = per_axis::each(|j| region.corner[j] + (region.extent[j] - 1));
        Hull::between(self.sample(region.corner), self.sample(last))
    }

    /// The dwell of one cell, by definition.
    pub(super) fn dwell_of(&self, cell: [u32; K]) -> u32 {
        let mut z = self.start(cell);
        let mut dwell = 0;
        while dwell < self.dwell && O::norm2::<T, A>(&z) < T::from_f64(4.0) {
            z = O::step::<T, A>(z);
            dwell += 1;
        }
        dwell
    }
}
