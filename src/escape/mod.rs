//! Escape-time fields: the number of iterations before an orbit leaves a disc.
//!
//! An `Orbit` is a few lines of arithmetic over `Lanes`; `EscapeField` samples cells, iterates batches of them on the
//! vector unit that the processor has, and is a [`Workload`]. Dwell d is defined by the plain loop
//!
//! ```text
//! d = 0;  while d < D and |z|² < R²  { step;  d += 1 }
//! ```
//!
//! in the run's precision and arithmetic; every path returns exactly that (`EscapeField::dwell_of` is the loop itself).

mod dispatch;
mod passes;

use std::marker::PhantomData;

use crate::device::{DeviceTwin, SampleArgs, padded};
use crate::domain::Domain;
use crate::registry::registry;
use crate::simd::{Isa, Lanes, Real};
use crate::workload::Workload;

registry! {
    /// The type of the iterated numbers.
    pub enum Precision("precision") {
        /// 32 bits.
        F32 = "f32",
        /// 64 bits.
        F64 = "f64",
    }
}

registry! {
    /// How a product and a sum are rounded.
    pub enum Arithmetic("arithmetic") {
        /// Once, together: fused multiply-add.
        Fused = "fused",
        /// Twice: each product and each sum, as codes compiled without contraction do. For comparisons.
        Plain = "plain",
    }
}

/// A way of rounding products and sums.
pub(crate) trait Rounding: Send + Sync + 'static {
    /// Its name.
    const ARITHMETIC: Arithmetic;
    /// a·b + c.
    fn mul_add<L: Lanes>(a: L, b: L, c: L) -> L;
    /// a·b − c.
    fn mul_sub<L: Lanes>(a: L, b: L, c: L) -> L;
    /// a² − b² + c, the real part of a complex square plus c.
    fn square_sub_add<L: Lanes>(a: L, b: L, c: L) -> L;
}

/// [`Arithmetic::Fused`].
pub(crate) struct Fused;

impl Rounding for Fused {
    const ARITHMETIC: Arithmetic = Arithmetic::Fused;

    #[inline(always)]
    fn mul_add<L: Lanes>(a: L, b: L, c: L) -> L {
        a.mul_add(b, c)
    }
    #[inline(always)]
    fn mul_sub<L: Lanes>(a: L, b: L, c: L) -> L {
        a.mul_sub(b, c)
    }
    #[inline(always)]
    fn square_sub_add<L: Lanes>(a: L, b: L, c: L) -> L {
        a.mul_add(a, b.neg_mul_add(b, c))
    }
}

/// [`Arithmetic::Plain`].
pub(crate) struct Plain;

impl Rounding for Plain {
    const ARITHMETIC: Arithmetic = Arithmetic::Plain;

    #[inline(always)]
    fn mul_add<L: Lanes>(a: L, b: L, c: L) -> L {
        a * b + c
    }
    #[inline(always)]
    fn mul_sub<L: Lanes>(a: L, b: L, c: L) -> L {
        a * b - c
    }
    #[inline(always)]
    fn square_sub_add<L: Lanes>(a: L, b: L, c: L) -> L {
        // The order of the published codes.
        a * a - b * b + c
    }
}

/// An orbit in K coordinates that carries V numbers per cell: the state first, then what does not change.
pub(crate) trait Orbit<const K: usize, const V: usize>: Send + Sync + 'static {
    /// How many of the V numbers change in a step.
    const STATE: usize;
    /// Its twin among the kernels.
    const TWIN: &'static str;
    /// True if a step is so cheap that testing after each costs as much as the step; the orbit must then be one of
    /// z² + c with c in the last two numbers.
    const LATE: bool;

    /// The first state at a sample point.
    fn start<L: Lanes>(point: [L; K]) -> [L; V];
    /// One iteration.
    fn step<L: Lanes, A: Rounding>(z: [L; V]) -> [L; V];
    /// |z|², compared with R² = 4.
    fn norm2<L: Lanes, A: Rounding>(z: &[L; V]) -> L;
}

/// An escape-time field over a domain.
pub(crate) struct EscapeField<const K: usize, const V: usize, O, T, A> {
    low: [T; K],
    pitch: [T; K],
    offset: T,
    dwell: u32,
    isa: Isa,
    dimension: f64,
    orbit: PhantomData<(O, A)>,
}

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> EscapeField<K, V, O, T, A> {
    /// The field over `domain` with dwell cap `dwell`; `dimension` is the box dimension to expect of its level sets.
    pub(crate) fn new(domain: &Domain<K>, dwell: u32, dimension: f64) -> Self {
        Self {
            low: domain.window().map(|[low, _]| T::from_f64(low)),
            pitch: domain.pitch().map(T::from_f64),
            offset: T::from_f64(domain.sample().offset()),
            dwell,
            isa: Isa::detect(),
            dimension,
            orbit: PhantomData,
        }
    }

    /// The first state of a cell: x_j = (c_j + o)·h_j + lo_j, then the orbit's start.
    #[inline(always)]
    fn start(&self, cell: [u32; K]) -> [T; V] {
        O::start(std::array::from_fn(|j| A::mul_add(T::from_u32(cell[j]) + self.offset, self.pitch[j], self.low[j])))
    }

    /// The dwell of one cell, by definition.
    fn dwell_of(&self, cell: [u32; K]) -> u32 {
        let mut z = self.start(cell);
        let mut dwell = 0;
        while dwell < self.dwell && O::norm2::<T, A>(&z) < T::from_f64(4.0) {
            z = O::step::<T, A>(z);
            dwell += 1;
        }
        dwell
    }
}

impl<const K: usize, const V: usize, O: Orbit<K, V>, T: Real, A: Rounding> Workload<K> for EscapeField<K, V, O, T, A> {
    fn evaluate(&self, cells: &[[u32; K]], labels: &mut [u32]) {
        dispatch::evaluate(self, cells, labels);
    }

    fn max_label(&self) -> u32 {
        self.dwell
    }

    fn labels_count_iterations(&self) -> bool {
        true
    }

    fn boundary_dimension(&self) -> f64 {
        self.dimension
    }

    fn device(&self) -> Option<DeviceTwin> {
        let args = SampleArgs {
            low: padded(self.low.map(T::to_f64)),
            pitch: padded(self.pitch.map(T::to_f64)),
            offset: self.offset.to_f64(),
            dwell: self.dwell,
            padding: 0,
        };
        let twin = DeviceTwin::new(O::TWIN, &args).define("TINY", format!("{:e}", T::TINY.to_f64()));
        let precision = if size_of::<T>() == 4 { Precision::F32 } else { Precision::F64 };
        Some(DeviceTwin { precision, arithmetic: A::ARITHMETIC, ..twin })
    }
}

/// Builds an [`EscapeField`] in the precision and arithmetic of the options.
macro_rules! escape_field {
    ($Orbit:ty, $domain:expr, $options:expr, $dimension:expr) => {{
        use $crate::escape::{Arithmetic, EscapeField, Fused, Plain, Precision};
        let (domain, dwell) = ($domain, $options.dwell);
        let field: Box<dyn $crate::workload::Workload<_>> = match ($options.precision, $options.arithmetic) {
            (Precision::F32, Arithmetic::Fused) => {
                Box::new(EscapeField::<_, _, $Orbit, f32, Fused>::new(domain, dwell, $dimension))
            }
            (Precision::F32, Arithmetic::Plain) => {
                Box::new(EscapeField::<_, _, $Orbit, f32, Plain>::new(domain, dwell, $dimension))
            }
            (Precision::F64, Arithmetic::Fused) => {
                Box::new(EscapeField::<_, _, $Orbit, f64, Fused>::new(domain, dwell, $dimension))
            }
            (Precision::F64, Arithmetic::Plain) => {
                Box::new(EscapeField::<_, _, $Orbit, f64, Plain>::new(domain, dwell, $dimension))
            }
        };
        field
    }};
}
pub(crate) use escape_field;

#[cfg(test)]
mod tests;
