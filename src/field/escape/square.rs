//! z² + c: a step, and orbits enclosed to first order in where they start and in c.
//!
//! With Z, C the middle and γ, ζ the distances of c and of the start from it, at most ρ_c and ρ_z, z = Z + D·γ/ρ_c + E and
//!
//! ```text
//! D' = 2·Z·D + ρ_c,   R = |D| + e,   e' = R² + 2·|Z|·e + ε
//! ```
//!
//! since (Z + d + E)² = Z² + 2Z·d + [2Z·E + (d + E)²]. What comes of ζ is multiplied by 2Z in every iteration and by nothing else, so
//! that only its size matters: e begins as ρ_z.
//!
//! ε: while |z| < 2, a computed x² − y² + c_x is off by less than u(3|z|² + 2|c_x|), fused or plain, 2xy + c_y by less than u(2|z|² +
//! |c_y|), hence z' by less than 4u(4 + |c|). Of the middle, which is fused, it is less than 3v(4 + |c|); and that of D less than
//! 2v(3|Z||D| + ρ_c), with |Z||D| < 1 since |Z| + |D| < 2, and ρ_c at most |c|'s bound: below 2v(4 + |c|). Together
//! ε = (4u + 6v)(4 + |c|), with v(4 + |c|) to spare for what is squared of u and v. Underflow in D and e adds less than 2^-140.
//!
//! |D'| is at most 2|Z||D| + ρ_c, below 2 + ρ_c, so that its square stays below ROOTS_TO where ρ_c is at most [`WIDE`]: 2.75² is 7.6. Of
//! wider discs all that comes of γ is in e: D is 0, and ρ_c a part of ε.

use crate::field::escape::enclosure::{Enclosure, WIDE, comes_back, more, squares, width};
use crate::field::escape::orbit::{Fused, Rounding};
use crate::simd::{Lanes, Real};

/// x' = fma(x, x, fma(−y, y, c_x)), y' = fma(x + x, y, c_y): four operations.
#[inline(always)]
pub(crate) fn square_plus_c<L: Lanes, A: Rounding>([x, y, cx, cy]: [L; 4]) -> [L; 4] {
    [A::square_sub_add(x, y, cx), A::mul_add(x + x, y, cy), cx, cy]
}

/// A disc of which orbits start, or whose points are their c.
#[derive(Clone, Copy)]
pub(crate) struct Disc<N> {
    pub(crate) centre: [N; 2],
    pub(crate) radius: N,
}

/// The orbits of all starts in a disc, or of z = c, for all c in another.
///
/// `SETTLES` says whether proofs look for orbits that settle. That pays where dwells are long.
pub(crate) struct Taylor<N, const SETTLES: bool> {
    /// Z and C.
    z: [N; 4],
    d: [N; 2],
    error: N,
    rho: N,
    rounding: N,
}

impl<N: Real, const SETTLES: bool> Taylor<N, SETTLES> {
    /// Of every c in a disc that is `reach` from the origin at most, from z = c or from every `start`; u is `unit`.
    #[inline(always)]
    pub(crate) fn new(c: Disc<N>, start: Option<Disc<N>>, reach: N, unit: f64) -> Self {
        let zero = N::from_f64(0.0);
        let z = start.unwrap_or(c).centre;
        let z = [z[0], z[1], c.centre[0], c.centre[1]];
        let (linear, error) = start.map_or((c.radius, zero), |start| (zero, start.radius));
        let rounding = N::from_f64(4.0 * unit + 6.0 * N::UNIT) * (N::from_f64(4.0) + reach);
        if c.radius > N::from_f64(WIDE) {
            return Self { z, d: [zero; 2], error: linear + error, rho: zero, rounding: rounding + c.radius };
        }
        Self { z, d: [linear, zero], error, rho: c.radius, rounding }
    }
}

impl<N: Real, const SETTLES: bool> Enclosure<N> for Taylor<N, SETTLES> {
    #[inline(always)]
    fn disc(&self) -> (N, N) {
        (squares(&self.z[..2]), squares(&self.d).sqrt() + self.error)
    }

    #[inline(always)]
    fn step(&mut self, modulus: N, radius: N) {
        let Self { z: [x, y, ..], d: [p, q], .. } = *self;
        let (x2, y2) = (x + x, y + y);
        self.error = (modulus + modulus).mul_add(self.error, radius.mul_add(radius, self.rounding)) * more();
        self.d = [x2.mul_add(p, y2.neg_mul_add(q, self.rho)), x2.mul_add(q, y2 * p)];
        self.z = square_plus_c::<N, Fused>(self.z);
    }

    #[inline(always)]
    fn settles(&self, radius: N, inside: N, steps: u32) -> bool {
        if !SETTLES {
            return false;
        }
        let ([x, y, ..], wide) = (self.z, radius * width(steps));
        let around = Self { d: [N::from_f64(0.0); 2], error: wide, ..*self };
        comes_back(around, wide, inside, |now| squares(&[now.z[0] - x, now.z[1] - y]).sqrt())
    }
}
