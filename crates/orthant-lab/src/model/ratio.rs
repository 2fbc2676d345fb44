//! Non-negative rationals, because the ceilings of the time equations forgive no rounding.
//!
//! A [`Ratio`] is exact while numerator and denominator fit 128 bits. What does not fit becomes a double, with its 53
//! bits: by then the quotients are so large that a ceiling changes nothing that could be seen. No operation panics.

use std::cmp::Ordering;
use std::ops::{Add, Div, Mul, Sub};

/// A non-negative rational number, exact while it fits 128 bits over 128 bits.
///
/// ```
/// use orthant_lab::model::Ratio;
///
/// let ratio = Ratio::new(6, 4);
/// assert_eq!((ratio.to_string(), ratio.to_f64(), ratio.ceil()), ("3/2".to_owned(), 1.5, 2.0));
/// // 0.7 is what was written, not the double beside it.
/// assert_eq!(Ratio::decimal(0.7), Ratio::new(7, 10));
/// assert_eq!("20.5".parse(), Ok(Ratio::new(41, 2)));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio(Form);

#[derive(Debug, Clone, Copy, PartialEq)]
enum Form {
    /// In lowest terms, denominator at least 1.
    Exact {
        numerator: u128,
        denominator: u128,
    },
    Rounded(f64),
}
use Form::{Exact, Rounded};

impl Ratio {
    /// 0.
    pub const ZERO: Self = Self(Exact { numerator: 0, denominator: 1 });
    /// 1.
    pub const ONE: Self = Self(Exact { numerator: 1, denominator: 1 });

    /// `numerator / denominator`; over 0 it is infinite.
    pub fn new(numerator: u128, denominator: u128) -> Self {
        if denominator == 0 {
            return Self(Rounded(f64::INFINITY));
        }
        let divisor = gcd(numerator, denominator);
        Self(Exact { numerator: numerator / divisor, denominator: denominator / divisor })
    }

    /// A whole number.
    pub fn whole(number: impl Into<u128>) -> Self {
        Self(Exact { numerator: number.into(), denominator: 1 })
    }

    /// The decimal literal that `value` was written as: 0.7 is 7/10, not the double beside it.
    ///
    /// The shortest decimal that reads back as `value` is taken. Negative numbers become 0.
    pub fn decimal(value: f64) -> Self {
        let text = format!("{:e}", value.max(0.0));
        let exact = text.split_once('e').and_then(|(mantissa, exponent)| {
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
            let exponent = exponent.parse::<i32>().ok()? - fraction.len() as i32;
            let power = 10u128.checked_pow(exponent.unsigned_abs())?;
            match exponent {
                0.. => Some(Self::whole(digits.checked_mul(power)?)),
                _ => Some(Self::new(digits, power)),
            }
        });
        exact.unwrap_or(Self(Rounded(value.max(0.0))))
    }

    /// The nearest double, to within an ulp or two.
    pub fn to_f64(self) -> f64 {
        match self.0 {
            Exact { numerator, denominator } => numerator as f64 / denominator as f64,
            Rounded(value) => value,
        }
    }

    /// ⌈x⌉.
    pub fn round_up(self) -> Self {
        match self.0 {
            Exact { numerator, denominator } => Self::whole(numerator.div_ceil(denominator)),
            Rounded(value) => Self(Rounded(value.ceil())),
        }
    }

    /// ⌈x⌉ as a double.
    pub fn ceil(self) -> f64 {
        self.round_up().to_f64()
    }

    /// ⌈log2 x⌉ for x ≥ 1: the bits that tell ⌈x⌉ things apart.
    pub fn bits(self) -> u32 {
        match self.0 {
            Exact { numerator, denominator } => {
                let last = numerator.div_ceil(denominator).saturating_sub(1);
                u128::BITS - last.leading_zeros()
            }
            Rounded(value) => value.log2().ceil() as u32,
        }
    }

    /// 1/x.
    pub fn recip(self) -> Self {
        match self.0 {
            Exact { numerator: 0, .. } => Self(Rounded(f64::INFINITY)),
            Exact { numerator, denominator } => Self(Exact { numerator: denominator, denominator: numerator }),
            Rounded(value) => Self(Rounded(value.recip())),
        }
    }

    /// x^exponent, with 0^0 = 1.
    pub fn pow(self, exponent: i32) -> Self {
        let base = if exponent < 0 { self.recip() } else { self };
        let exponent = exponent.unsigned_abs();
        let exact = match base.0 {
            Exact { numerator, denominator } => numerator.checked_pow(exponent).zip(denominator.checked_pow(exponent)),
            Rounded(_) => None,
        };
        Self(match exact {
            Some((numerator, denominator)) => Exact { numerator, denominator },
            None => Rounded(base.to_f64().powi(exponent as i32)),
        })
    }

    /// True if x > 0.
    pub fn is_positive(self) -> bool {
        self > Self::ZERO
    }

    /// An operation on numerators and denominators if its result fits, else on doubles.
    fn either(self, other: Self, exact: impl Fn([u128; 4]) -> Option<Self>, rounded: impl Fn(f64, f64) -> f64) -> Self {
        let both = match (self.0, other.0) {
            (Exact { numerator: a, denominator: b }, Exact { numerator: c, denominator: d }) => exact([a, b, c, d]),
            _ => None,
        };
        both.unwrap_or_else(|| Self(Rounded(rounded(self.to_f64(), other.to_f64()))))
    }
}

impl Mul for Ratio {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        let product = |[a, b, c, d]: [u128; 4]| {
            // Crosswise first: the product is then in lowest terms and as small as it can be.
            let (over, under) = (gcd(a, d), gcd(c, b));
            let numerator = (a / over).checked_mul(c / under)?;
            Some(Self(Exact { numerator, denominator: (b / under).checked_mul(d / over)? }))
        };
        self.either(other, product, |a, b| a * b)
    }
}

impl Div for Ratio {
    type Output = Self;
    #[expect(clippy::suspicious_arithmetic_impl, reason = "a quotient is a product with the reciprocal")]
    fn div(self, other: Self) -> Self {
        self * other.recip()
    }
}

impl Add for Ratio {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let sum = |[a, b, c, d]: [u128; 4]| {
            Some(Self::new(a.checked_mul(d)?.checked_add(c.checked_mul(b)?)?, b.checked_mul(d)?))
        };
        self.either(other, sum, |a, b| a + b)
    }
}

impl Sub for Ratio {
    type Output = Self;
    /// max(x − y, 0).
    fn sub(self, other: Self) -> Self {
        let difference = |[a, b, c, d]: [u128; 4]| {
            Some(Self::new(a.checked_mul(d)?.saturating_sub(c.checked_mul(b)?), b.checked_mul(d)?))
        };
        self.either(other, difference, |a, b| (a - b).max(0.0))
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        let exact = match (self.0, other.0) {
            (Exact { numerator: a, denominator: b }, Exact { numerator: c, denominator: d }) => {
                a.checked_mul(d).zip(c.checked_mul(b)).map(|(left, right)| left.cmp(&right))
            }
            _ => None,
        };
        exact.or_else(|| self.to_f64().partial_cmp(&other.to_f64()))
    }
}

impl std::iter::Product for Ratio {
    fn product<I: Iterator<Item = Self>>(factors: I) -> Self {
        factors.fold(Self::ONE, Mul::mul)
    }
}

impl std::iter::Sum for Ratio {
    fn sum<I: Iterator<Item = Self>>(terms: I) -> Self {
        terms.fold(Self::ZERO, Add::add)
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Exact { numerator, denominator: 1 } => write!(f, "{numerator}"),
            Exact { numerator, denominator } => write!(f, "{numerator}/{denominator}"),
            Rounded(value) => write!(f, "{value}"),
        }
    }
}

/// "125", "125/6" or "20.5".
impl std::str::FromStr for Ratio {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || format!("'{text}' is not a number such as 12, 12.5 or 125/6");
        let whole = |text: &str| text.trim().parse::<u128>().map_err(|_| wrong());
        match text.split_once('/') {
            Some((numerator, denominator)) => match whole(denominator)? {
                0 => Err(wrong()),
                denominator => Ok(Self::new(whole(numerator)?, denominator)),
            },
            None => match text.trim().parse::<f64>() {
                Ok(value) if value.is_finite() && value >= 0.0 => Ok(Self::decimal(value)),
                _ => Err(wrong()),
            },
        }
    }
}

/// The greatest common divisor; 1 where one of the two is 1, at once, because most of ours are.
fn gcd(a: u128, b: u128) -> u128 {
    let (mut a, mut b) = (a, b);
    if b == 1 || a == 1 {
        return 1;
    }
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn literals_are_read_exactly() {
        assert_eq!(Ratio::decimal(0.7), Ratio::new(7, 10));
        assert_eq!(Ratio::decimal(12.5), Ratio::new(25, 2));
        assert_eq!(Ratio::decimal(1e6), Ratio::whole(1_000_000u32));
        assert_eq!("125/6".parse(), Ok(Ratio::new(125, 6)));
        assert_eq!("20.50".parse(), Ok(Ratio::new(41, 2)));
        assert!(["", "1/0", "-1", "nan", "inf", "1/x", "a"].iter().all(|text| text.parse::<Ratio>().is_err()));
        assert_eq!(Ratio::new(250, 12).to_string(), "125/6");
    }

    #[test]
    fn ceilings_are_exact_where_doubles_are_not() {
        let product = [0.7, 0.7, 10_000.0].map(Ratio::decimal).into_iter().product::<Ratio>();
        assert_eq!(product.ceil(), 4900.0);
        assert_eq!((Ratio::ONE - Ratio::decimal(0.9)) * Ratio::whole(10u32), Ratio::ONE);
    }

    #[test]
    fn too_long_for_128_bits_goes_on_as_a_double() {
        let huge = Ratio::whole(10u32).pow(60);
        assert!((huge.to_f64() / 1e60 - 1.0).abs() < 1e-14);
        assert!((huge * huge.recip()).to_f64() == 1.0);
        assert_eq!(Ratio::ZERO.recip().to_f64(), f64::INFINITY);
        assert_eq!(Ratio::ZERO.pow(0), Ratio::ONE);
        assert_eq!(Ratio::whole(2u32).pow(-3), Ratio::new(1, 8));
    }

    #[test]
    fn bits_tell_things_apart() {
        let bits = |things: u32| Ratio::whole(things).bits();
        assert_eq!([1, 2, 3, 4, 5, 1 << 20, (1 << 20) + 1].map(bits), [0, 1, 2, 2, 3, 20, 21]);
        assert_eq!(Ratio::whole(2u32).pow(160).bits(), 160);
    }

    proptest! {
        #[test]
        fn agrees_with_integers(a in 0u32..1000, b in 1u32..1000, c in 0u32..1000, d in 1u32..1000) {
            let (x, y) = (Ratio::new(a.into(), b.into()), Ratio::new(c.into(), d.into()));
            let [a, b, c, d] = [a, b, c, d].map(u128::from);
            prop_assert_eq!(x * y, Ratio::new(a * c, b * d));
            prop_assert_eq!(x + y, Ratio::new(a * d + c * b, b * d));
            prop_assert_eq!(x - y, Ratio::new((a * d).saturating_sub(c * b), b * d));
            prop_assert_eq!(x > y, a * d > c * b);
            prop_assert_eq!(x.ceil(), a.div_ceil(b) as f64);
        }
    }
}
