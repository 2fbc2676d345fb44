//! Where the cells of a domain have their samples, in the numbers of a run.

use crate::field::formula::intervals::FormulaBounds;
use crate::field::formula::lanes::{BLOCK, VectorJob, VectorUnit, on};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::siblings::{SIBLINGS, SiblingBounds};
use crate::field::formula::source::FormulaText;
use crate::field::options::{Arithmetic, Precision};
use crate::field::points;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};
use crate::simd::Isa;

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
        placed(T::from_u32(c) + self.offset, self.pitch[axis], self.low[axis], self.arithmetic)
    }

    /// The coordinates of some cells on an axis, as many as there is room for.
    pub(super) fn coordinates(&self, axis: usize, cells: &[[u32; K]], room: &mut [T], isa: Isa) {
        // What is left of the room keeps its values, which nobody looks at.
        let mut numbers = [0; BLOCK];
        numbers.iter_mut().zip(cells).for_each(|(number, cell)| *number = cell[axis]);
        let (low, pitch, offset, arithmetic) = (self.low[axis], self.pitch[axis], self.offset, self.arithmetic);
        let numbers = &numbers[..cells.len().min(BLOCK)];
        on(isa, FormulaCoordinates { numbers, room, low, pitch, offset, arithmetic });
    }

    /// The bounds of coordinates on an axis in some regions; those beyond the last one are its.
    pub(super) fn sibling_bounds(&self, regions: &[Region<K>], axis: usize) -> SiblingBounds<T> {
        let mut bounds = SiblingBounds::all(T::ZERO);
        for lane in 0..SIBLINGS {
            bounds.set(lane, self.bounds(&regions[lane.min(regions.len() - 1)], axis));
        }
        bounds
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

#[inline(always)]
fn placed<T: FormulaNumber>(cells: T, pitch: T, low: T, arithmetic: Arithmetic) -> T {
    match arithmetic {
        Arithmetic::Fused => cells.fused(pitch, low),
        Arithmetic::Plain => cells * pitch + low,
    }
}

/// Coordinates of cells by their numbers on an axis.
struct FormulaCoordinates<'a, T> {
    numbers: &'a [u32],
    room: &'a mut [T],
    low: T,
    pitch: T,
    offset: T,
    arithmetic: Arithmetic,
}

impl<T: FormulaNumber> VectorJob for FormulaCoordinates<'_, T> {
    #[inline(always)]
    fn run<U: VectorUnit>(self) {
        let Self { numbers, room, low, pitch, offset, arithmetic } = self;
        let all = room.iter_mut().zip(numbers);
        all.for_each(|(place, &c)| *place = placed(T::from_u32(c) + offset, pitch, low, arithmetic));
    }
}
