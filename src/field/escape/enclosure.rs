//! Certificates: what is certain of the dwells of all cells of a region, rounding included.
//!
//! Samples are monotone in a cell's coordinates, and rounding keeps that: the samples of a region's cells, as they are computed,
//! lie between those of its first and its last one. The orbits of a hull of samples are enclosed by a disc about one orbit
//! in f64, whose radius bounds the distance to every orbit *as the run computes it*: what an iteration adds by rounding in
//! the run's precision, in either arithmetic, is part of it, and so is the rounding of the certificate itself.
//!
//! ```text
//!   |Z| + R below 2 before every iteration up to d, |Z| − R above it then:  every cell has dwell d
//!   |Z| + R below 2 up to D:                                                every cell has dwell D
//!   else nothing is known
//! ```
//!
//! With u the unit roundoff of the run, a computed |z|² differs from the true one by less than a share of 4u, hence |z| from its
//! root by less than 2u; the limits are twice as far from 2. Each line of a certificate has fewer than 64 roundings in f64, for
//! which bounds grow by [`SLACK`], 128 of them.

use crate::field::definition::Verdict;
use crate::simd::Real;

/// By how much a bound grows for the roundings of the certificate's own numbers: 2^-46.
pub(crate) const SLACK: f64 = 1.0 / (1u64 << 46) as f64;

/// Beyond this a sample is not looked at, so that no product overflows: 2^100.
const FARTHEST: f64 = (1u128 << 100) as f64;

/// Enough for all that underflows in an iteration, beside numbers of the size of 1: 2^-90.
pub(crate) const UNDERFLOWS: f64 = 1.0 / (1u128 << 90) as f64;

/// The unit roundoff of the certificate's numbers.
pub(crate) const OWN_UNIT: f64 = f64::EPSILON / 2.0;

/// The box of a region's samples.
pub(crate) struct Hull<const K: usize> {
    /// Its centre.
    pub(crate) centre: [f64; K],
    /// Its half widths, rounded.
    half: [f64; K],
    /// u, the unit roundoff of the run.
    pub(crate) unit: f64,
    /// What the run takes for no distance from an axis, squared.
    pub(crate) tiny: f64,
}

impl<const K: usize> Hull<K> {
    /// The box between two corners; None if it reaches too far.
    pub(super) fn between(a: [f64; K], b: [f64; K], unit: f64, tiny: f64) -> Option<Self> {
        let near = |x: &f64| x.abs() <= FARTHEST;
        if !a.iter().chain(&b).all(near) {
            return None;
        }
        let centre: [f64; K] = std::array::from_fn(|j| 0.5 * (a[j] + b[j]));
        let half = std::array::from_fn(|j| larger((a[j] - centre[j]).abs(), (b[j] - centre[j]).abs()));
        Some(Self { centre, half, unit, tiny })
    }

    /// At least the distance from the centre to a corner, along axes `from` to `to`.
    pub(crate) fn radius(&self, from: usize, to: usize) -> f64 {
        self.half[from..to].iter().fold(0.0, |sum, half| sum + half * half).sqrt() * (1.0 + SLACK)
    }

    /// At least the distance from the origin to any sample, along axes `from` to `to`.
    pub(crate) fn reach(&self, from: usize, to: usize) -> f64 {
        let centre = self.centre[from..to].iter().fold(0.0, |sum, x| sum + x * x).sqrt();
        (centre + self.radius(from, to)) * (1.0 + SLACK)
    }
}

fn larger(a: f64, b: f64) -> f64 {
    if a < b { b } else { a }
}

/// All orbits of a hull, about one of them.
pub(crate) trait Enclosure {
    /// |Z| of the orbit in the middle, rounded, and R, which is at least the distance of any other to it but for rounding.
    fn disc(&self) -> (f64, f64);
    /// One iteration, of which |Z| and R are given, whose sum is below 2.
    fn step(&mut self, modulus: f64, radius: f64);
}

/// How close to 2 the enclosed |z| may come from below and from above.
pub(super) fn limits(unit: f64) -> [f64; 2] {
    let margin = 4.0 * unit + SLACK;
    [2.0 * (1.0 - margin), 2.0 * (1.0 + margin)]
}

/// What a twin has to know of a run in numbers of this unit and that tiny distance.
pub(super) fn numbers(unit: f64, tiny: f64) -> [(&'static str, f64); 9] {
    let [inside, outside] = limits(unit);
    [
        ("UNIT", unit),
        ("TINY", tiny),
        ("OWN_UNIT", OWN_UNIT),
        ("OWN_TINY", f64::TINY),
        ("SLACK", SLACK),
        ("UNDERFLOWS", UNDERFLOWS),
        ("FARTHEST", FARTHEST),
        ("INSIDE", inside),
        ("OUTSIDE", outside),
    ]
}

/// What is certain of all orbits of an enclosure. What is not a number is neither inside nor outside.
pub(super) fn certify(mut orbits: impl Enclosure, [inside, outside]: [f64; 2], dwell: u32) -> Verdict {
    for d in 0..dwell {
        let (modulus, radius) = orbits.disc();
        if modulus * (1.0 - SLACK) >= outside + radius {
            return Verdict::Uniform(d.into());
        }
        // Not the opposite of `>=`: an unknown sum is not below.
        let certain = modulus + radius < inside;
        if !certain {
            return Verdict::Unknown;
        }
        orbits.step(modulus, radius);
    }
    Verdict::Uniform(dwell.into())
}
