//! The Mandelbulb of power 8 in 3-D (White and Nylander), polar axis z, by squaring instead of trigonometry.
//!
//! (x, y, z) → r⁸ (sin 8θ cos 8φ, sin 8θ sin 8φ, cos 8θ) + c. With ρ² = x² + y², (z + iρ)^(2m) = a + iρb, so ρ enters
//! squared only, and (x + iy)/ρ is squared three times: one division and one square root per iteration, both correctly
//! rounded, so the values are the same everywhere. On the polar axis the division is undefined and the image is (0, 0, a).

use crate::field::definition::Field;
use crate::field::error::FieldError;
use crate::field::escape::enclosure::{Enclosure, Hull, less, more, squares};
use crate::field::escape::labels::escape_field;
use crate::field::escape::orbit::{Fused, Orbit, Rounding};
use crate::field::options::FieldOptions;
use crate::field::start::Defaults;
use crate::geometry::Domain;
use crate::rule::RuleKind;
use crate::simd::{Lanes, Real};

/// One line for lists.
pub(crate) const ABOUT: &str = "the White-Nylander bulb of power 8";

/// What a bare run uses.
pub(crate) fn defaults(_: usize) -> Defaults {
    Defaults {
        size: 192,
        g: 3,
        r: 2,
        b: 2,
        dwell: Some(64),
        window: vec![[-1.2, 1.2]; 3],
        explore: RuleKind::Certified,
        by_index: false,
    }
}

/// Opens the Mandelbulb of power 8 over a domain: the label of a point is the number of iterations until it escapes, at
/// most `dwell`.
///
/// ```
/// use orthant::field::{FieldOptions, mandelbulb};
/// use orthant::prelude::*;
///
/// // The cell at the origin belongs to the bulb, the cell at (-2, -2, -2) does not.
/// let builder = Plan::builder([8; 3]).window([[-2.0, 2.0]; 3]).sample(Sample::Corner);
/// let plan = builder.scheme(Scheme::uniform(2, 2, 1)).build()?;
/// let field = mandelbulb::open(plan.domain(), &FieldOptions::default().dwell(64))?;
/// let found = run(&plan, &*field)?;
/// let label = |cell| found.array().map(|array| array.label(cell));
/// assert_eq!(label([4; 3]), Some(64));
/// assert!(label([0; 3]) < Some(3));
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// Never; the signature is that of every field.
pub fn open(domain: &Domain<3>, options: &FieldOptions) -> Result<Box<dyn Field<3>>, FieldError> {
    Ok(escape_field!(Mandelbulb, domain, options, 2.6))
}

/// (x, y, z, c_x, c_y, c_z).
pub(super) struct Mandelbulb;

impl Orbit<3, 6> for Mandelbulb {
    const STATE: usize = 3;
    const TWIN: &'static str = "fields/mandelbulb.cuh";
    const LATE: bool = false;
    type Enclosure<N: Real> = Ball<N>;

    #[inline(always)]
    fn start<L: Lanes>([x, y, z]: [L; 3]) -> [L; 6] {
        [x, y, z, x, y, z]
    }

    #[inline(always)]
    fn step<L: Lanes, A: Rounding>([x, y, z, cx, cy, cz]: [L; 6]) -> [L; 6] {
        let p2 = A::mul_add(x, x, y * y);
        // (z + iρ)², ⁴, ⁸ = a + iρb
        let (a1, b1) = (A::mul_sub(z, z, p2), z + z);
        let (a2, b2) = (A::mul_sub(a1, a1, p2 * (b1 * b1)), (a1 + a1) * b1);
        let (a3, b3) = (A::mul_sub(a2, a2, p2 * (b2 * b2)), (a2 + a2) * b2);
        // ((x + iy)/ρ)², ⁴, ⁸
        let inverse = L::splat(L::Real::from_f64(1.0)) / p2;
        let (c1, s1) = (A::mul_sub(x, x, y * y) * inverse, ((x + x) * y) * inverse);
        let (c2, s2) = (A::mul_sub(c1, c1, s1 * s1), (c1 + c1) * s1);
        let (c3, s3) = (A::mul_sub(c2, c2, s2 * s2), (c2 + c2) * s2);
        let q = p2.sqrt() * b3;
        let (zero, axis) = (L::splat(L::Real::from_f64(0.0)), p2.lt(L::splat(L::Real::TINY)));
        [L::select(axis, zero, q * c3) + cx, L::select(axis, zero, q * s3) + cy, a3 + cz, cx, cy, cz]
    }

    #[inline(always)]
    fn norm2<L: Lanes, A: Rounding>([x, y, z, ..]: &[L; 6]) -> L {
        A::mul_add(*x, *x, A::mul_add(*y, *y, *z * *z))
    }

    #[inline(always)]
    fn enclose<N: Real>(hull: &Hull<N, 3>) -> Ball<N> {
        let [x, y, z] = hull.centre;
        let radius = hull.radius(0, 3);
        Ball {
            w: [x, y, z, x, y, z],
            radius,
            least: radius + N::from_f64(2048.0 * hull.near),
            reach: hull.reach(0, 3),
            rounding: N::from_f64(128.0 * (hull.unit + N::UNIT)),
        }
    }
}

/// A ball about one orbit that holds all of a hull.
///
/// In frames along r, θ and φ a step is diagonal, and stretches by at most 8r⁷·max(1, |sin 8θ / sin θ|) ≤ 8r⁷·min(8, r/ρ). A ball
/// about W with radius R lies within m = |W| + R of the origin and at least ρ_W − R from the axis, so that
///
/// ```text
/// R' = 8m⁷·min(8, m/(ρ_W − R))·R + ρ_c + ε
/// ```
///
/// ε: counted operation by operation, with |a|, ρ|b| ≤ r⁸ for every power, a₃ is off by less than 47u·r⁸, ρb₃ by less than 42u·r⁸,
/// and the third square of (x + iy)/ρ by less than 42u; z' together, with its last sums, by less than 104u·r⁸ + 2u·|c|: 128u leave room for
/// what is squared of u. Nearer to the axis than the root of TINY, where a step leaves out x and y, these are at most 8r⁷ρ ≤ 1024ρ. Both
/// once more for the middle, in own numbers, whose TINY is at most the run's; of its powers 2^-140 may underflow, and (x + iy)/ρ is off by
/// 2^-50, since ρ² is at least TINY.
pub(super) struct Ball<N> {
    w: [N; 6],
    radius: N,
    /// ρ_c, and what a step leaves out near the axis.
    least: N,
    reach: N,
    rounding: N,
}

impl<N: Real> Enclosure<N> for Ball<N> {
    #[inline(always)]
    fn disc(&self) -> (N, N) {
        (squares(&self.w[..3]), self.radius)
    }

    #[inline(always)]
    fn step(&mut self, modulus: N, radius: N) {
        let [x, y, ..] = self.w;
        let (zero, one, eight) = (N::from_f64(0.0), N::from_f64(1.0), N::from_f64(8.0));
        let m = modulus + radius;
        let p2 = x.mul_add(x, y * y);
        // At the axis what the step leaves out counts.
        let rho = if p2 < N::TINY { zero } else { p2.sqrt() };
        let pole = rho.mul_sub(less(), radius);
        // Where it is used, m is at least the root of ROOTS_FROM, and pole at least an eighth of that.
        let stretch = if eight * pole > m { m * (one / pole) } else { eight };
        let m2 = m * m;
        let m4 = m2 * m2;
        let most = eight * (m4 * m2 * m) * stretch;
        let rounding = self.rounding.mul_add(m4.mul_add(m4, self.reach), self.least);
        self.radius = most.mul_add(radius, rounding) * more();
        self.w = Mandelbulb::step::<N, Fused>(self.w);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::escape::orbit::{Fused, Plain};

    /// What late tests on a GPU stand on: from a state outside no orbit comes back, whatever it overflows to.
    fn stays_outside<T: Real, A: Rounding>() {
        let mut word = 11u64;
        let mut next = || {
            word = word.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9_7f4a_7c15);
            (word >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let mut outside = 0;
        for turn in 0..200_000 {
            // On the rim, about it, and up to where squares overflow; in every direction, near the polar axis and on it.
            let norm = match turn % 4 {
                0 => 2.0,
                1 => 2.0 + next().abs() * 1e-5,
                2 => 2.0 + next().abs(),
                _ => (next() * 45.0).exp2() + 2.0,
            };
            let thin = [1.0, 1e-3, 1e-14, 1e-20, 0.0][turn / 4 % 5];
            let mut z = [next() * thin, next() * thin, next()];
            let length = z.iter().map(|x| x * x).sum::<f64>().sqrt();
            z = z.map(|x| x / length * norm);
            let mut c = [next(), next(), next()];
            let length = c.iter().map(|x| x * x).sum::<f64>().sqrt();
            c = c.map(|x| if turn % 3 == 0 { x / length * 1.999_999 } else { x });
            let mut state = [z[0], z[1], z[2], c[0], c[1], c[2]].map(T::from_f64);
            let inside = |state: &[T; 6]| Mandelbulb::norm2::<T, A>(state) < T::from_f64(4.0);
            if inside(&state) {
                continue;
            }
            outside += 1;
            for step in 0..5 {
                state = Mandelbulb::step::<T, A>(state);
                assert!(!inside(&state), "{z:?} + {c:?} is inside after step {step}");
            }
        }
        assert!(outside > 100_000);
    }

    #[test]
    fn an_orbit_that_is_outside_stays_outside() {
        stays_outside::<f32, Fused>();
        stays_outside::<f32, Plain>();
        stays_outside::<f64, Fused>();
        stays_outside::<f64, Plain>();
    }
}
