//! Certificates: what is certain of the dwells of all cells of a region, rounding included.
//!
//! Samples are monotone in a cell's coordinates, and rounding keeps that: the samples of a region's cells, as they are computed,
//! lie between those of its first and its last one. The orbits of a hull of samples are enclosed by a disc about one orbit
//! in the certificate's own numbers, whose radius bounds the distance to every orbit *as the run computes it*: what an iteration
//! adds by rounding in the run's precision, in either arithmetic, is part of it, and so is the rounding of the certificate itself.
//!
//! ```text
//!   |Z| + R below 2 before every iteration up to d, |Z| − R above it then:  every cell has dwell d
//!   |Z| + R below 2 up to D:                                                every cell has dwell D
//!   a disc that comes to lie in itself, |Z| + R below 2 on the way:         every cell has dwell D
//!   else nothing is known
//! ```
//!
//! The third is how a proof of a long dwell ends early. Inside of the set orbits come near a cycle that attracts them. A disc about the
//! middle, some times as wide as R, is enclosed anew, every point of it with every c; once it lies in where it started, whatever
//! was in it stays in it for good, and with it all orbits of the region.
//!
//! With u the unit roundoff of the run, a computed |z|² differs from the true one by less than a share of 4u, hence |z| from its
//! root by less than 2u; the limits are twice as far from 2. With v that of the own numbers, each line of a certificate has fewer
//! than 64 roundings, for which bounds grow by [`slack`], 128v: twice as much, and so enough for products of errors, even if v is u.
//!
//! # Own numbers
//!
//! f32 if the run is in f32 and the largest pitch h is above [`COARSE`], else f64. Of two cells or more R is at least h/2, and what
//! f32 adds to it is, beside [`limits`] that are 2^-16 closer, 6v(4 + |c|) per iteration of z² + c and as much as the run itself does
//! per iteration of the bulb: at h = 2^-11 one part in 16 once, and in 100 per iteration. Of the regions of two cells a side that a
//! tree asks about, f64 proves one in a hundred more there, and one in ten thousand where h is 2^-5. On finer lattices f32 would cost
//! more proofs than that; on a GPU f64 costs several times as much.
//!
//! Samples of an f32 run are exact in either. Nothing overflows f32: no sample is beyond [`FARTHEST`], and what leaves the disc of
//! radius 2 is iterated no more, so that the largest square is (2^60 · 8)². What underflows, where |x| is below 2^-74, is less than
//! [`UNDERFLOWS`], which is part of every radius.
//!
//! A GPU's quick roots of floats are correctly rounded from [`ROOTS_FROM`] up to [`ROOTS_TO`] (`kernels/unchecked.cuh`). Every sum of squares
//! holds [`ROOTS_FROM`] too, which is nothing beside 4, and roots bound from above; where it is more than [`ROOTS_TO`], that its root is not
//! below 2 is all that counts of it. That an orbit is outside is seen from squares.
//!
//! Products and sums are rounded once together, whatever the run does: that is fewer operations, and less rounding.

use crate::field::options::Precision;
use crate::per_axis;
use crate::rule::Verdict;
use crate::simd::Real;

/// Above this pitch f32 proves next to nothing less than f64: 2^-11.
const COARSE: f64 = 1.0 / (1u64 << 11) as f64;

/// Beyond this a sample is not looked at, so that no square overflows: 2^60.
const FARTHEST: f64 = (1u64 << 60) as f64;

/// Enough for all that underflows in an iteration, beside numbers of the size of 1: 2^-60.
const UNDERFLOWS: f64 = 1.0 / (1u64 << 60) as f64;

/// The least number that a root is taken of: 2^-100.
const ROOTS_FROM: f64 = 1.0 / (1u128 << 100) as f64;

/// The largest number whose root is used for more than to see that it is not below 2.
const ROOTS_TO: f64 = 8.0;

/// A disc of c with a larger radius is too wide for a first order.
pub(crate) const WIDE: f64 = 0.75;

/// The own numbers of certificates for a run in numbers of type `T` over cells of these sides.
pub(super) fn own_numbers<T: Real>(pitch: &[f64]) -> Precision {
    let coarse = pitch.iter().any(|&h| h > COARSE);
    if size_of::<T>() == 4 && coarse { Precision::F32 } else { Precision::F64 }
}

/// By which share a bound grows for the roundings of the certificate's own numbers: 128v.
#[inline(always)]
fn slack<N: Real>() -> f64 {
    128.0 * N::UNIT
}

/// What a bound from above is multiplied by.
#[inline(always)]
pub(crate) fn more<N: Real>() -> N {
    N::from_f64(1.0 + slack::<N>())
}

/// What a bound from below is multiplied by.
#[inline(always)]
pub(crate) fn less<N: Real>() -> N {
    N::from_f64(1.0 - slack::<N>())
}

#[inline(always)]
fn larger<N: Real>(a: N, b: N) -> N {
    if a < b { b } else { a }
}

/// |a − b|.
#[inline(always)]
fn distance<N: Real>(a: N, b: N) -> N {
    if a < b { b - a } else { a - b }
}

/// The sum of the squares, and as much that its root can be taken on a GPU: [`ROOTS_FROM`].
#[inline(always)]
pub(crate) fn squares<N: Real>(x: &[N]) -> N {
    let mut sum = N::from_f64(ROOTS_FROM);
    for &x in x.iter().rev() {
        sum = x.mul_add(x, sum);
    }
    sum
}

/// The sum of the magnitudes.
#[inline(always)]
fn sum<N: Real>(x: &[N]) -> N {
    let mut sum = N::from_f64(0.0);
    for &x in x {
        sum = sum + distance(x, N::from_f64(0.0));
    }
    sum
}

/// The box of a region's samples, in the certificate's numbers.
pub(crate) struct Hull<N, const K: usize> {
    /// Its centre.
    pub(crate) centre: [N; K],
    /// Its half widths, rounded.
    half: [N; K],
    /// u, the unit roundoff of the run.
    pub(crate) unit: f64,
    /// Nearer to an axis than this the run takes a number for one on it.
    pub(crate) near: f64,
}

impl<N: Real, const K: usize> Hull<N, K> {
    /// The box between two samples of a run in `T`, which N holds exactly; None if it reaches too far.
    #[inline(always)]
    pub(super) fn between<T: Real>(a: [T; K], b: [T; K]) -> Option<Self> {
        let a: [N; K] = per_axis::each(|j| N::from_f64(a[j].to_f64()));
        let b: [N; K] = per_axis::each(|j| N::from_f64(b[j].to_f64()));
        let reaches = |x: &N| distance(*x, N::from_f64(0.0)) <= N::from_f64(FARTHEST);
        if !a.iter().chain(&b).all(reaches) {
            return None;
        }
        // Half widths are of the centre as it is rounded.
        let centre: [N; K] = per_axis::each(|j| N::from_f64(0.5) * (a[j] + b[j]));
        let half = per_axis::each(|j| larger(distance(a[j], centre[j]), distance(b[j], centre[j])));
        Some(Self { centre, half, unit: T::UNIT, near: near::<T>() })
    }

    /// At least the distance from the centre to a corner, along axes `from` to `to`.
    #[inline(always)]
    pub(crate) fn radius(&self, from: usize, to: usize) -> N {
        let half = &self.half[from..to];
        let square = squares(half);
        let length = if square <= N::from_f64(ROOTS_TO) { square.sqrt() } else { sum(half) };
        length.mul_add(more(), N::from_f64(UNDERFLOWS))
    }

    /// At least the distance from the origin to any sample, along axes `from` to `to`.
    #[inline(always)]
    pub(crate) fn reach(&self, from: usize, to: usize) -> N {
        (sum(&self.centre[from..to]) + sum(&self.half[from..to])) * more()
    }
}

/// The root of a run's TINY.
#[inline(always)]
fn near<T: Real>() -> f64 {
    T::TINY.to_f64().sqrt()
}

/// All orbits of a hull, about one of them.
pub(crate) trait Enclosure<N> {
    /// |Z|² of the orbit in the middle, and a little more, and R, which is at least the distance of any other to it; but for rounding.
    fn disc(&self) -> (N, N);
    /// One iteration, of which |Z| (or a little more) and R are given, whose sum is below 2.
    fn step(&mut self, modulus: N, radius: N);
    /// True if all orbits, which are at most R from the middle after this many steps, are certain to stay below `inside`. Never by
    /// default.
    fn settles(&self, _radius: N, _inside: N, _steps: u32) -> bool {
        false
    }
}

/// Steps after which a proof first looks whether its orbits settle; then whenever they have doubled.
const SETTLING: u32 = 32;

/// Steps of the longest cycle that is looked for.
const CYCLE: u32 = 8;

/// How close to 2 the enclosed |z| may come from below and from above.
#[inline(always)]
pub(super) fn limits<N: Real>(unit: f64) -> [f64; 2] {
    let margin = 4.0 * unit + slack::<N>();
    [2.0 * (1.0 - margin), 2.0 * (1.0 + margin)]
}

/// What a twin has to know of certificates in N for a run in T.
pub(super) fn numbers<N: Real, T: Real>() -> [(&'static str, f64); 15] {
    let [inside, outside] = limits::<N>(T::UNIT);
    [
        ("UNIT", T::UNIT),
        ("TINY", T::TINY.to_f64()),
        ("NEAR", near::<T>()),
        ("OWN_UNIT", N::UNIT),
        ("OWN_TINY", N::TINY.to_f64()),
        ("SLACK", slack::<N>()),
        ("UNDERFLOWS", UNDERFLOWS),
        ("FARTHEST", FARTHEST),
        ("ROOTS_FROM", ROOTS_FROM),
        ("ROOTS_TO", ROOTS_TO),
        ("WIDE", WIDE),
        ("INSIDE", inside),
        ("OUTSIDE", outside),
        ("SETTLING", SETTLING.into()),
        ("CYCLE", CYCLE.into()),
    ]
}

/// What is certain of all orbits of an enclosure. What is not a number is neither inside nor outside.
#[inline(always)]
pub(super) fn certify<N: Real>(mut orbits: impl Enclosure<N>, limits: [f64; 2], dwell: u32) -> Verdict {
    let (inside, outside) = (N::from_f64(limits[0]), N::from_f64(limits[1]));
    for d in 0..dwell {
        let (square, radius) = orbits.disc();
        let modulus = square.sqrt();
        // Not the opposite of `>=`: an unknown sum is not below.
        let certain = modulus + radius < inside;
        if !certain {
            let farthest = outside + radius;
            let left = square * less() >= farthest * farthest;
            return if left { Verdict::Uniform(d.into()) } else { Verdict::Unknown };
        }
        if d >= SETTLING && d.is_power_of_two() && orbits.settles(radius, inside, d) {
            break;
        }
        orbits.step(modulus, radius);
    }
    Verdict::Uniform(dwell.into())
}

/// True if a disc comes to lie in itself: `orbits` are all that start at most `wide` from the middle of `before`, and `apart` bounds how far
/// from it their own is, but for rounding.
#[inline(always)]
pub(super) fn comes_back<N: Real, E: Enclosure<N>>(mut orbits: E, wide: N, inside: N, apart: impl Fn(&E) -> N) -> bool {
    let (mut square, mut radius) = orbits.disc();
    for _ in 0..CYCLE {
        let modulus = square.sqrt();
        let certain = modulus + radius < inside;
        if !certain {
            return false;
        }
        orbits.step(modulus, radius);
        (square, radius) = orbits.disc();
        if (apart(&orbits) + radius) * more() < wide {
            return true;
        }
    }
    false
}

/// How many times as wide as R a disc is that is expected to come back after so many steps: it does so where its orbits draw nearer by a
/// share of 2/(w + 1) or more in a cycle, the later the weaker.
#[inline(always)]
pub(super) fn width<N: Real>(steps: u32) -> N {
    N::from_u32(steps / (SETTLING / 4))
}
