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

/// The samples of cells along an axis, in numbers of type T.
#[derive(Clone, Copy)]
pub(super) struct FormulaAxis<T> {
    low: T,
    pitch: T,
    offset: T,
    arithmetic: Arithmetic,
}

impl<T: FormulaNumber> FormulaAxis<T> {
    /// The coordinate of the sample of cell `c`. It never falls where c rises.
    #[inline(always)]
    pub(super) fn coordinate(&self, c: u32) -> T {
        placed(T::from_u32(c) + self.offset, self.pitch, self.low, self.arithmetic)
    }

    /// The coordinates of some cells, as many as there is room for.
    pub(super) fn coordinates(&self, cells: &[u32], room: &mut [T], isa: Isa) {
        // What is left of the room keeps its values, which nobody looks at.
        on(isa, FormulaCoordinates { cells, room, axis: *self });
    }

    /// The bounds of coordinates from a cell to another.
    fn bounds(&self, [first, last]: [u32; 2]) -> FormulaBounds<T> {
        FormulaBounds::between(self.coordinate(first), self.coordinate(last))
    }

    /// The same in each region.
    fn sibling_bounds(&self, ends: &[[u32; 2]; SIBLINGS]) -> SiblingBounds<T> {
        let mut bounds = SiblingBounds::all(T::ZERO);
        for (lane, &ends) in ends.iter().enumerate() {
            bounds.set(lane, self.bounds(ends));
        }
        bounds
    }
}

/// The samples of cells, in numbers of type T.
pub(super) struct FormulaSamples<const K: usize, T> {
    pub(super) axes: [FormulaAxis<T>; K],
    domain: Domain<K>,
}

/// The first and the last cell of a region on an axis.
fn ends<const K: usize>(region: &Region<K>, axis: usize) -> [u32; 2] {
    let first = region.corner[axis];
    [first, first + (region.extent[axis] - 1)]
}

impl<const K: usize, T: FormulaNumber> FormulaSamples<K, T> {
    pub(super) fn new(domain: &Domain<K>, arithmetic: Arithmetic) -> Self {
        let (window, pitch, offset) = (domain.window(), domain.pitch(), T::from_f64(domain.sample().offset()));
        let axis = |axis: usize| {
            let [low, pitch] = [window[axis][0], pitch[axis]].map(T::from_f64);
            FormulaAxis { low, pitch, offset, arithmetic }
        };
        Self { axes: std::array::from_fn(axis), domain: *domain }
    }

    /// The coordinates of some cells on an axis, as many as there is room for.
    pub(super) fn coordinates(&self, axis: usize, cells: &[[u32; K]], room: &mut [T], isa: Isa) {
        let mut numbers = [0; BLOCK];
        numbers.iter_mut().zip(cells).for_each(|(number, cell)| *number = cell[axis]);
        self.axes[axis].coordinates(&numbers[..cells.len().min(BLOCK)], room, isa);
    }

    /// The bounds of coordinates on an axis in some regions; those beyond the last one are its.
    pub(super) fn sibling_bounds(&self, regions: &[Region<K>], axis: usize) -> SiblingBounds<T> {
        let mut all = [ends(&regions[regions.len() - 1], axis); SIBLINGS];
        all.iter_mut().zip(regions).for_each(|(found, region)| *found = ends(region, axis));
        self.axes[axis].sibling_bounds(&all)
    }

    /// The bounds of coordinates on each axis in a region.
    pub(super) fn bounds(&self, region: &Region<K>) -> [FormulaBounds<T>; K] {
        std::array::from_fn(|axis| self.axes[axis].bounds(ends(region, axis)))
    }

    /// The twin of a formula over the same cells, whose orbits end after `cap` iterations if they are any.
    pub(super) fn twin(&self, text: FormulaText, cap: u32) -> DeviceTwin {
        let precision = if size_of::<T>() == 4 { Precision::F32 } else { Precision::F64 };
        text.twin(points::twin("fields/formula.cuh", &self.domain, cap, precision, self.axes[0].arithmetic))
    }
}

#[inline(always)]
fn placed<T: FormulaNumber>(cells: T, pitch: T, low: T, arithmetic: Arithmetic) -> T {
    match arithmetic {
        Arithmetic::Fused => cells.fused(pitch, low),
        Arithmetic::Plain => cells * pitch + low,
    }
}

/// Coordinates of cells on an axis.
struct FormulaCoordinates<'a, T> {
    cells: &'a [u32],
    room: &'a mut [T],
    axis: FormulaAxis<T>,
}

impl<T: FormulaNumber> VectorJob for FormulaCoordinates<'_, T> {
    #[inline(always)]
    fn run<U: VectorUnit>(self) {
        let Self { cells, room, axis } = self;
        room.iter_mut().zip(cells).for_each(|(place, &c)| *place = axis.coordinate(c));
    }
}
