//! Where the cells of a domain have their samples, in the numbers of a run.

use std::sync::Arc;

use crate::abi::{device_struct, padded};
use crate::field::formula::intervals::FormulaBounds;
use crate::field::formula::lanes::{BLOCK, VectorJob, VectorUnit, on};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::siblings::{SIBLINGS, SiblingBounds};
use crate::field::formula::source::FormulaText;
use crate::field::formula::tape::FormulaTape;
use crate::field::formula::waves;
use crate::field::options::{Arithmetic, Precision};
use crate::field::points;
use crate::field::twin::DeviceTwin;
use crate::geometry::{Domain, Region};
use crate::simd::Isa;

/// What kernels include.
const HEADER: &str = "fields/formula.cuh";

device_struct! {
    /// Samples of cells as other fields have them, the forest of short tapes, the whole tape, and the constants of all of them.
    struct LongFormulaArgs32 {
        low: [f32; 8],
        pitch: [f32; 8],
        offset: f32,
        dwell: u32,
        forest: u64,
        root: u64,
        constants: u64,
    }
}

device_struct! {
    /// The same in doubles.
    struct LongFormulaArgs64 {
        low: [f64; 8],
        pitch: [f64; 8],
        offset: f64,
        dwell: u32,
        padding: u32,
        forest: u64,
        root: u64,
        constants: u64,
    }
}

fn precision<T>() -> Precision {
    if size_of::<T>() == 4 { Precision::F32 } else { Precision::F64 }
}

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
        let mut axes = [FormulaAxis { low: T::ZERO, pitch: T::ZERO, offset, arithmetic }; K];
        for j in 0..K {
            (axes[j].low, axes[j].pitch) = (T::from_f64(window[j][0]), T::from_f64(pitch[j]));
        }
        Self { axes, domain: *domain }
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
        let mut bounds = [FormulaBounds::ANYTHING; K];
        for axis in 0..K {
            bounds[axis] = self.axes[axis].bounds(ends(region, axis));
        }
        bounds
    }

    /// The twin of a long formula over the same cells: its tape in waves and its constants are arrays, beside its source. Bounds
    /// of regions take a block of threads, which leaves a shorter tape where they prove nothing.
    pub(super) fn long_twin(&self, text: FormulaText, tape: &FormulaTape<T>, waves: Vec<u64>) -> DeviceTwin {
        let (low, pitch) = (padded(self.domain.low()), padded(self.domain.pitch()));
        let samples = LongFormulaArgs64 { low, pitch, offset: self.domain.sample().offset(), ..Default::default() };
        long_twin(text, samples, self.axes[0].arithmetic, tape, waves)
    }

    /// The twin of a formula over the same cells, whose orbits end after `cap` iterations if they are any.
    pub(super) fn twin(&self, text: FormulaText, cap: u32) -> DeviceTwin {
        text.twin(points::twin(HEADER, &self.domain, cap, precision::<T>(), self.axes[0].arithmetic))
    }
}

/// The twin of a long formula whose cells have these samples.
fn long_twin<T: FormulaNumber>(
    text: FormulaText,
    samples: LongFormulaArgs64,
    arithmetic: Arithmetic,
    tape: &FormulaTape<T>,
    waves: Vec<u64>,
) -> DeviceTwin {
    let twin = match size_of::<T>() {
        4 => {
            let LongFormulaArgs64 { low, pitch, offset, .. } = samples;
            let [low, pitch] = [low, pitch].map(|numbers| numbers.map(|number| number as f32));
            let args = LongFormulaArgs32 { low, pitch, offset: offset as f32, ..Default::default() };
            DeviceTwin::built_in(HEADER, &args)
        }
        _ => DeviceTwin::built_in(HEADER, &samples),
    };
    let twin = DeviceTwin { precision: precision::<T>(), arithmetic, ..twin };
    let constants = tape.constants.iter().flat_map(|constant| constant.word().to_le_bytes()[..size_of::<T>()].to_vec());
    let axes: Vec<String> = tape.axes.iter().map(usize::to_string).collect();
    let number = |place: usize| tape.truth.map_or(u64::from(u32::MAX), |truth| u64::from(truth[place]));
    let twin = waves::defines().into_iter().fold(twin, |twin, (name, value)| twin.define(name, format!("{value}u")));
    let values = tape.axes.len() + (waves[0] as u32) as usize;
    // Bounds, a name and whether it is read, for each value and for what is behind the last.
    let row = (values + 1) * (2 * size_of::<T>() + size_of::<u32>() + size_of::<u8>());
    let twin = twin
        .define("FORMULA_AXES", format!("{}u", tape.axes.len()))
        .define("FORMULA_AXIS", axes.join(", "))
        .define("FORMULA_NEVER", format!("{}u", number(0)))
        .define("FORMULA_ALWAYS", format!("{}u", number(1)))
        .with_forest(waves.len(), row)
        .with("root", Arc::new(waves))
        .array("constants", constants.collect());
    text.twin(twin)
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
