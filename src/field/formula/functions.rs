//! sin, cos, exp and ln in f64, of products and sums that are fused or rounded one by one, so that every machine computes
//! the same bits.
//!
//! A result that is rounded to f32 is the real one rounded to nearest, for every f32: the polynomials are exact to within
//! 2^-50, and no result of an f32 lies that close to the middle of two. So it never falls where the function rises. That
//! is what proofs of f32 runs stand on, and a coefficient that is changed needs it shown anew (`every_float` below). The
//! bits of an f64 result are as reproducible, but it may be off by a few units of its last place.

use std::f64::consts::{FRAC_2_PI, LN_2, LOG2_E, TAU};

/// Beyond this sin and cos are NaN: fewer and fewer digits of their argument are left.
pub(super) const FARTHEST: f64 = 1_048_576.0;

/// Added and taken away again it leaves the nearest whole number, which is also in the low bits of the sum.
const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// 1/13!, .., 1: of e^r.
const EXP: [f64; 14] = factorials(13, 1, false);

/// Beyond these e^x is infinite or 0 already.
const EXP_RANGE: [f64; 2] = [-760.0, 720.0];

/// 2/21, .., 2/3: of 2·artanh(s) = 2s + 2/3·s³ + .. those beyond the first, in s².
const LN: [f64; 10] = [
    2.0 / 21.0,
    2.0 / 19.0,
    2.0 / 17.0,
    2.0 / 15.0,
    2.0 / 13.0,
    2.0 / 11.0,
    2.0 / 9.0,
    2.0 / 7.0,
    2.0 / 5.0,
    2.0 / 3.0,
];

/// Below the least normal number ln takes x·2^54.
const SCALE: f64 = 18_014_398_509_481_984.0;

/// Of r^15/15!, .., r^3/3!; that of r is 1.
const SINE: [f64; 7] = {
    let [a, b, c, d, e, f, g, _] = factorials(15, 2, true);
    [a, b, c, d, e, f, g]
};

/// Of r^16/16!, .., 1.
const COSINE: [f64; 9] = factorials(16, 2, true);

/// ln 2 in two parts, of which the first has so few bits that its products with whole numbers are exact.
const LN_2_PARTS: [f64; 2] = [f64::from_bits(0x3fe6_2e42_fee0_0000), f64::from_bits(0x3dea_39ef_3579_3c76)];

/// π/2 in two parts of 53 bits each.
const QUARTER_PARTS: [f64; 2] = [f64::from_bits(0x3ff9_21fb_5444_2d18), f64::from_bits(0x3c91_a626_3314_5c07)];

/// What an extreme of a wave may lie outside of a stretch and still count: far more than turns are off by.
pub(super) const SPARE: f64 = 1e-6;

/// Every number of the functions and of their bounds, under the name that kernels have for it.
pub(super) const NUMBERS: [(&str, &[f64]); 15] = [
    ("FORMULA_FARTHEST", &[FARTHEST]),
    ("FORMULA_ROUNDER", &[ROUNDER]),
    ("FORMULA_LOG2_E", &[LOG2_E]),
    ("FORMULA_LN_2", &[LN_2]),
    ("FORMULA_FRAC_2_PI", &[FRAC_2_PI]),
    ("FORMULA_TAU", &[TAU]),
    ("FORMULA_SPARE", &[SPARE]),
    ("FORMULA_SCALE", &[SCALE]),
    ("FORMULA_EXP_RANGE", &EXP_RANGE),
    ("FORMULA_LN_2_PARTS", &LN_2_PARTS),
    ("FORMULA_QUARTER_PARTS", &QUARTER_PARTS),
    ("FORMULA_EXP", &EXP),
    ("FORMULA_LN", &LN),
    ("FORMULA_SINE", &SINE),
    ("FORMULA_COSINE", &COSINE),
];

/// The polynomial with these coefficients, that of the highest power first.
#[inline(always)]
fn polynomial<const N: usize>(x: f64, coefficients: [f64; N]) -> f64 {
    let mut sum = coefficients[0];
    for coefficient in &coefficients[1..] {
        sum = sum.mul_add(x, *coefficient);
    }
    sum
}

/// 1/n! for n = `first`, `first` − `step`, .., with alternating signs if asked for, the last one positive.
const fn factorials<const N: usize>(first: u32, step: u32, alternating: bool) -> [f64; N] {
    let mut found = [0.0; N];
    let mut at = 0;
    while at < N {
        let n = first - step * at as u32;
        let (mut product, mut factor) = (1.0, 2);
        while factor <= n {
            product *= factor as f64;
            factor += 1;
        }
        let sign = if alternating && (N - 1 - at) % 2 == 1 { -1.0 } else { 1.0 };
        found[at] = sign / product;
        at += 1;
    }
    found
}

/// 2^power for a power that has a normal result.
#[inline(always)]
fn power_of_two(power: i64) -> f64 {
    f64::from_bits((power.wrapping_add(1023) as u64) << 52)
}

/// e^x = 2^n · e^r with r in ±ln(2)/2.
#[inline(always)]
pub(super) fn exp(x: f64) -> f64 {
    let [least, most] = EXP_RANGE;
    // NaN passes both.
    let x = if x > most { most } else { x };
    let x = if x < least { least } else { x };
    let sum = x.mul_add(LOG2_E, ROUNDER);
    let n = sum - ROUNDER;
    let r = n.mul_add(-LN_2_PARTS[0], x);
    let r = n.mul_add(-LN_2_PARTS[1], r);
    let power = i64::from(sum.to_bits() as i32);
    // In two steps, as 2^n alone may be out of range where the result is not.
    polynomial(r, EXP) * power_of_two(power >> 1) * power_of_two(power - (power >> 1))
}

/// The logarithm: of x = 2^n·m, with m in √½ .. √2, n·ln 2 + 2·artanh((m − 1)/(m + 1)).
#[inline(always)]
pub(super) fn ln(x: f64) -> f64 {
    let tiny = x < f64::MIN_POSITIVE;
    let scaled = if tiny { x * SCALE } else { x };
    // The bits of √½ are taken away, so that what is left of the exponent is n.
    let n = (scaled.to_bits().wrapping_sub(0x3fe6_a09e_667f_3bcd) as i64) >> 52;
    let m = f64::from_bits(scaled.to_bits().wrapping_sub((n as u64) << 52));
    let n = (n as i32 - if tiny { 54 } else { 0 }) as f64;
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let small = (s * square).mul_add(polynomial(square, LN), s + s);
    let sum = n.mul_add(LN_2, small);
    let sum = if x < f64::INFINITY { sum } else { x };
    if x > 0.0 {
        sum
    } else if x == 0.0 {
        f64::NEG_INFINITY
    } else {
        f64::NAN
    }
}

/// The sine, NaN beyond [`FARTHEST`].
#[inline(always)]
pub(super) fn sin(x: f64) -> f64 {
    // The sum of the polynomial loses the sign of 0.
    let turned = turned(x, 0);
    if x == 0.0 { x } else { turned }
}

/// The cosine, NaN beyond [`FARTHEST`].
#[inline(always)]
pub(super) fn cos(x: f64) -> f64 {
    turned(x, 1)
}

/// The sine of x and so many quarter turns.
#[inline(always)]
fn turned(x: f64, quarters: u64) -> f64 {
    let sum = x.mul_add(FRAC_2_PI, ROUNDER);
    let n = sum - ROUNDER;
    let r = n.mul_add(-QUARTER_PARTS[0], x);
    let r = n.mul_add(-QUARTER_PARTS[1], r);
    let square = r * r;
    let quarter = (sum.to_bits() & 3).wrapping_add(quarters);
    let sine = (r * square).mul_add(polynomial(square, SINE), r);
    let value = if quarter & 1 == 0 { sine } else { polynomial(square, COSINE) };
    let value = if quarter & 2 == 0 { value } else { -value };
    if x.abs() <= FARTHEST { value } else { f64::NAN }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Function = (&'static str, fn(f64) -> f64, fn(f64) -> f64);
    const FUNCTIONS: [Function; 4] =
        [("sin", sin, f64::sin), ("cos", cos, f64::cos), ("exp", exp, f64::exp), ("ln", ln, f64::ln)];

    /// The f32 results of a stretch of floats are the real ones rounded, and rise where the function rises.
    fn check(&(name, ours, theirs): &Function, bits: impl Iterator<Item = u32>) {
        let mut last: Option<(f32, f32)> = None;
        for x in bits.map(f32::from_bits) {
            let (found, real) = (ours(x.into()) as f32, theirs(x.into()));
            let wanted = if real.is_nan() || ["sin", "cos"].contains(&name) && x.abs() > 1_048_576.0 {
                f32::NAN
            } else {
                real as f32
            };
            assert!(
                found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(),
                "{name}({x:e}): {found:e} {wanted:e}"
            );
            if let (Some((before, value)), true) = (last, ["exp", "ln"].contains(&name) && !found.is_nan()) {
                assert!(
                    (x < before) == (found < value) || found == value,
                    "{name} steps back between {before:e} and {x:e}"
                );
            }
            last = Some((x, found));
        }
    }

    /// A few million floats, spread over all of them, in their order.
    #[test]
    fn f32_results_are_rounded_once() {
        for function in &FUNCTIONS {
            for sign in [0, 0x8000_0000u32] {
                check(function, (0..0x7f80_0000u32).step_by(4567).map(|bits| sign | bits));
            }
            // One after another, where results change fastest, and where exp reaches 0 and infinity.
            for around in [1.0f32, 3.15, -3.0, 88.7, 103.9, -87.3, -103.97, 1e-40, 1_048_575.9, 6e4] {
                check(function, around.to_bits()..around.to_bits() + 20_000);
            }
        }
    }

    #[test]
    fn ends_are_exact() {
        assert_eq!([exp(0.0), exp(1000.0), exp(-1000.0)], [1.0, f64::INFINITY, 0.0]);
        assert_eq!(
            [ln(1.0), ln(0.0), ln(-0.0), ln(f64::INFINITY)],
            [0.0, -f64::INFINITY, -f64::INFINITY, f64::INFINITY]
        );
        assert_eq!([sin(0.0), cos(0.0)], [0.0, 1.0]);
        assert!(
            [ln(-1.0), exp(f64::NAN), ln(f64::NAN), sin(f64::NAN), sin(1e7), cos(f64::INFINITY)]
                .iter()
                .all(|x| x.is_nan())
        );
        assert_eq!([exp(f64::INFINITY), exp(-f64::INFINITY)], [f64::INFINITY, 0.0]);
    }

    #[test]
    fn f64_results_are_close() {
        let mut x = -740.0;
        while x < 700.0 {
            for (name, ours, theirs) in FUNCTIONS {
                let (found, real) = (ours(x), theirs(x));
                assert!(
                    found.is_nan() && real.is_nan() || (found - real).abs() <= 4e-16 * real.abs().max(1e-2),
                    "{name}({x})"
                );
            }
            x += 0.0717;
        }
    }

    /// Every float, which takes many minutes.
    #[test]
    #[ignore = "long"]
    fn every_float() {
        for function in &FUNCTIONS {
            for sign in [0, 0x8000_0000u32] {
                check(function, (0..0x7f80_0000u32).map(|bits| sign | bits));
            }
        }
    }
}
