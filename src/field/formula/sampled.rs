//! Where the cells of a domain have their samples, in the numbers of a run.

use crate::field::formula::intervals::FormulaBounds;
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::source::FormulaText;
use crate::field::options::{Arithmetic, Precision};
use crate::field::points;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};

/// The samples of cells, in numbers of type T.
pub(super) struct FormulaSamples<const K: usize, T> {
    low: [T; K],
    pitch: [T; K],
    offset: T,
    arithmetic: Arithmetic,
    domain: Domain<K>,
}

impl<const K: usize, T: FormulaNumber> FormulaSamples<K, T> {
    pub(super) fn new(domain: &Domain<K>, arithmetic: Arithmetic) -> Self {
        Self {
            low: domain.window().map(|[low, _]| T::from_f64(low)),
            pitch: domain.pitch().map(T::from_f64),
            offset: T::from_f64(domain.sample().offset()),
            arithmetic,
            domain: *domain,
        }
    }

    /// The coordinate of the sample of cell `c` on an axis. It never falls where c rises.
    #[inline(always)]
    pub(super) fn coordinate(&self, axis: usize, c: u32) -> T {
        let cells = T::from_u32(c) + self.offset;
        match self.arithmetic {
            Arithmetic::Fused => cells.fused(self.pitch[axis], self.low[axis]),
            Arithmetic::Plain => cells * self.pitch[axis] + self.low[axis],
        }
    }

    /// The bounds of coordinates on an axis in a region.
    pub(super) fn bounds(&self, region: &Region<K>, axis: usize) -> FormulaBounds<T> {
        let first = region.corner[axis];
        let last = first + (region.extent[axis] - 1);
        FormulaBounds::between(self.coordinate(axis, first), self.coordinate(axis, last))
    }

    /// The twin of a formula over the same cells, whose orbits end after `cap` iterations if they are any.
    pub(super) fn twin(&self, text: FormulaText, cap: u32) -> DeviceTwin {
        let precision = if size_of::<T>() == 4 { Precision::F32 } else { Precision::F64 };
        let twin = points::twin("fields/formula.cuh", &self.domain, cap, precision, self.arithmetic).proves();
        text.defines.into_iter().fold(twin, |twin, (name, value)| twin.define(name, value)).written(text.source)
    }
}
