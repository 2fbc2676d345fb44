//! z² + c: a step, and orbits enclosed to first order in where they start and in c.
//!
//! With Z, C the middle and γ, ζ the distances of c and of the start from it, z = Z + Dc·γ + Dz·ζ + E and
//!
//! ```text
//! Dc' = 2·Z·Dc + 1,  Dz' = 2·Z·Dz,   R = |Dc|·ρ_c + |Dz|·ρ_z + e,   e' = R² + 2·|Z|·e + ε
//! ```
//!
//! since (Z + d + E)² = Z² + 2Z·d + [2Z·E + (d + E)²]. Of Dz only the size matters: it is a number.
//!
//! ε: while |z| < 2, a computed x² − y² + c_x is off by less than u(3|z|² + 2|c_x|), fused or plain, 2xy + c_y by less than u(2|z|² +
//! |c_y|), hence z' by less than 4u(4 + |c|). Of the middle, in f64, it is that again, and the rounding of Dc adds at most 8(|Z||Dc| + 1)
//! units, times ρ_c: with |Z|R < 4 that is less than 8(4 + |c|). Together ε = (4u + 32v)(4 + |c| + 2^-90), v the unit of f64.

use crate::field::escape::enclosure::{Enclosure, OWN_UNIT, SLACK, UNDERFLOWS};
use crate::field::escape::orbit::{Plain, Rounding};
use crate::simd::Lanes;

/// x' = fma(x, x, fma(−y, y, c_x)), y' = fma(x + x, y, c_y): four operations.
#[inline(always)]
pub(crate) fn square_plus_c<L: Lanes, A: Rounding>([x, y, cx, cy]: [L; 4]) -> [L; 4] {
    [A::square_sub_add(x, y, cx), A::mul_add(x + x, y, cy), cx, cy]
}

/// A disc of which orbits start, or whose points are their c.
#[derive(Clone, Copy)]
pub(crate) struct Disc {
    pub(crate) centre: [f64; 2],
    pub(crate) radius: f64,
}

/// The orbits of all starts in a disc, or of z = c, for all c in another.
pub(crate) struct Taylor {
    /// Z and C.
    z: [f64; 4],
    dc: [f64; 2],
    dz: f64,
    error: f64,
    rho_c: f64,
    rho_z: f64,
    rounding: f64,
}

impl Taylor {
    /// Of every c in a disc that is `reach` from the origin at most, from z = c or from every `start`; u is `unit`.
    pub(crate) fn new(c: Disc, start: Option<Disc>, reach: f64, unit: f64) -> Self {
        let z = start.unwrap_or(c).centre;
        let own = f64::from(u8::from(start.is_none()));
        Self {
            z: [z[0], z[1], c.centre[0], c.centre[1]],
            dc: [own, 0.0],
            dz: 1.0 - own,
            error: 0.0,
            rho_c: c.radius,
            rho_z: start.map_or(0.0, |start| start.radius),
            rounding: (4.0 * unit + 32.0 * OWN_UNIT) * (4.0 + (reach + UNDERFLOWS)),
        }
    }
}

impl Enclosure for Taylor {
    #[inline(always)]
    fn disc(&self) -> (f64, f64) {
        let Self { z: [x, y, ..], dc: [p, q], .. } = *self;
        let linear = (p * p + q * q).sqrt() * self.rho_c + self.dz * self.rho_z;
        ((x * x + y * y).sqrt(), linear + self.error)
    }

    #[inline(always)]
    fn step(&mut self, modulus: f64, radius: f64) {
        let Self { z: [x, y, ..], dc: [p, q], .. } = *self;
        let twice = modulus + modulus;
        self.error = (radius * radius + twice * self.error + self.rounding) * (1.0 + SLACK);
        self.dz = twice * self.dz * (1.0 + SLACK);
        self.dc = [2.0 * (x * p - y * q) + 1.0, 2.0 * (x * q + y * p)];
        self.z = square_plus_c::<f64, Plain>(self.z);
    }
}
