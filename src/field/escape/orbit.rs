//! Orbits, and how their sums are rounded.

use crate::field::escape::enclosure::{Enclosure, Hull};
use crate::field::options::Arithmetic;
use crate::simd::{Lanes, Real};

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
    /// What encloses the orbits of a box of samples, in numbers of its own.
    type Enclosure<N: Real>: Enclosure<N>;

    /// The first state at a sample point.
    fn start<L: Lanes>(point: [L; K]) -> [L; V];
    /// One iteration.
    fn step<L: Lanes, A: Rounding>(z: [L; V]) -> [L; V];
    /// |z|², compared with R² = 4.
    fn norm2<L: Lanes, A: Rounding>(z: &[L; V]) -> L;
    /// All orbits that start in a box.
    fn enclose<N: Real>(hull: &Hull<N, K>) -> Self::Enclosure<N>;
}
