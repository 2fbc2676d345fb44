//! A number as somebody wrote it, to its last digit.
//!
//! Cells of 64 bits hold whole numbers that a double does not, so that a tolerance or a threshold for them must not pass through one.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::cell::{Cell, CellType, with_type};

/// A finite number: a whole number of 64 bits, or a double.
///
/// ```
/// use orthant::CellType;
/// use orthant::tree::Number;
///
/// assert_eq!(("300".parse(), "-3".parse()), (Ok(Number::Natural(300)), Ok(Number::Negative(-3))));
/// assert_eq!("2.5".parse(), Ok(Number::Real(2.5)));
/// assert!("nan".parse::<Number>().is_err());
/// // Not every type has every number.
/// assert_eq!(Number::Natural(300).word(CellType::U8), None);
/// assert_eq!(Number::Negative(-3).word(CellType::I8), Some(253));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Number {
    /// A whole number from 0 on.
    Natural(u64),
    /// A whole number below 0.
    Negative(i64),
    /// Any other.
    Real(f64),
}

/// A text that is not a finite number.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' is not a finite number")]
pub struct NoNumber(pub String);

impl FromStr for Number {
    type Err = NoNumber;

    fn from_str(text: &str) -> Result<Self, NoNumber> {
        let text = text.trim();
        let natural = || text.parse().ok().map(Self::Natural);
        // A zero with a sign is a double: there the sign counts.
        let negative = || text.parse().ok().filter(|&number: &i64| number < 0).map(Self::Negative);
        let real = || text.parse().ok().filter(|number: &f64| number.is_finite()).map(Self::from);
        natural().or_else(negative).or_else(real).ok_or_else(|| NoNumber(text.into()))
    }
}

/// What is whole becomes so, but for -0.
impl From<f64> for Number {
    fn from(number: f64) -> Self {
        const EXACT: f64 = (1u64 << 53) as f64;
        match number {
            _ if number.trunc() != number || number.abs() > EXACT || number.is_sign_negative() && number == 0.0 => {
                Self::Real(number)
            }
            0.0.. => Self::Natural(number as u64),
            _ => Self::Negative(number as i64),
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Natural(number) => number.fmt(f),
            Self::Negative(number) => number.fmt(f),
            // 1e300, and not three hundred digits.
            Self::Real(number) => write!(f, "{number:?}"),
        }
    }
}

/// The least and the greatest number of a type without a point.
#[allow(clippy::unnecessary_cast, reason = "one body for every type")]
pub(crate) fn range(kind: CellType) -> [i128; 2] {
    with_type!(kind, T => [T::MIN as i128, T::MAX as i128])
}

/// The word of a whole number that a type without a point holds.
pub(crate) fn word_of_whole(kind: CellType, number: i128) -> u64 {
    number as u64 & (u64::MAX >> (64 - 8 * kind.bytes()))
}

impl Number {
    /// What a cell is, which is finite.
    pub(crate) fn of_word(kind: CellType, word: u64) -> Self {
        match kind.text(word).parse() {
            Ok(number) if !kind.is_float() => number,
            _ => kind.number(word).into(),
        }
    }

    /// The double nearest to it.
    pub fn real(self) -> f64 {
        match self {
            Self::Natural(number) => number as f64,
            Self::Negative(number) => number as f64,
            Self::Real(number) => number,
        }
    }

    /// Itself if it is whole.
    pub(crate) fn whole(self) -> Option<i128> {
        match self {
            Self::Natural(number) => Some(number.into()),
            Self::Negative(number) => Some(number.into()),
            Self::Real(number) => (number.trunc() == number).then_some(number as i128),
        }
    }

    /// The least whole number that is not less, or the greatest there is.
    fn ceil(self) -> i128 {
        match self {
            Self::Real(number) => number.ceil() as i128,
            whole => whole.whole().expect("it is no double"),
        }
    }

    /// The greatest double that is not greater.
    pub(crate) fn double_below(self) -> f64 {
        let near = self.real();
        let above = !matches!(self, Self::Real(_)) && near as i128 > self.ceil();
        if above { near.next_down() } else { near }
    }

    /// The least double that is not less.
    fn double_above(self) -> f64 {
        let near = self.real();
        let below = !matches!(self, Self::Real(_)) && (near as i128) < self.ceil();
        if below { near.next_up() } else { near }
    }

    /// The word of a cell of this value; None if the type does not have the value. Of `f32` and `f64` it is the nearest
    /// value.
    pub fn word(self, kind: CellType) -> Option<u64> {
        match kind {
            CellType::F32 => Some(self.real() as f32).filter(|value| value.is_finite()).map(Cell::word),
            CellType::F64 => Some(self.real().word()),
            _ => {
                let [least, greatest] = range(kind);
                self.whole().filter(|whole| (least..=greatest).contains(whole)).map(|whole| word_of_whole(kind, whole))
            }
        }
    }

    /// The word of the least cell that is not less, where there are both such cells and others.
    pub(crate) fn least_word(self, kind: CellType) -> Option<u64> {
        if !kind.is_float() {
            let [least, greatest] = range(kind);
            return Some(self.ceil())
                .filter(|at| (least + 1..=greatest).contains(at))
                .map(|at| word_of_whole(kind, at));
        }
        let at = self.double_above();
        // Zero with a sign is not less than zero.
        if at == 0.0 {
            return Some(with_type!(kind, T => T::of_count(0).word()) | 1 << (8 * kind.bytes() - 1));
        }
        match kind {
            CellType::F32 => {
                let near = at as f32;
                let least = if f64::from(near) < at { near.next_up() } else { near };
                Some(least).filter(|least| least.is_finite()).map(Cell::word)
            }
            _ => Some(at.word()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_digits() {
        let read = |text: &str| text.parse::<Number>();
        assert_eq!(read("18446744073709551615"), Ok(Number::Natural(u64::MAX)));
        assert_eq!(read("-9223372036854775808"), Ok(Number::Negative(i64::MIN)));
        assert_eq!(
            (read("40.0"), read("1e3"), read(" -2 ")),
            (Ok(40.0.into()), read("1000"), Ok(Number::Negative(-2)))
        );
        assert_eq!(read("0.1"), Ok(Number::Real(0.1)));
        assert!(matches!(read("-0"), Ok(Number::Real(zero)) if zero.is_sign_negative()));
        for wrong in ["", "nan", "inf", "1e999", "12x"] {
            assert_eq!(read(wrong), Err(NoNumber(wrong.into())));
        }
        for number in ["18446744073709551615", "-7", "0.1", "1e300"].map(|text| read(text).unwrap()) {
            let json = serde_json::to_string(&number).unwrap();
            assert_eq!(serde_json::from_str::<Number>(&json).unwrap(), number, "{json}");
        }
    }

    #[test]
    fn numbers_are_words_of_types_that_hold_them() {
        let word = |text: &str, kind| text.parse::<Number>().unwrap().word(kind);
        assert_eq!((word("255", CellType::U8), word("256", CellType::U8)), (Some(255), None));
        assert_eq!((word("-1", CellType::I16), word("-1", CellType::U16)), (Some(0xffff), None));
        assert_eq!((word("0.5", CellType::I32), word("2.0", CellType::I32)), (None, Some(2)));
        assert_eq!((word("1e30", CellType::F32), word("1e39", CellType::F32)), (Some(1e30f32.word()), None));
        assert_eq!(word("-9223372036854775808", CellType::I64), Some(1 << 63));
    }

    /// By what is on either side of it.
    #[test]
    fn the_least_cell_that_is_not_less() {
        let least = |text: &str, kind| text.parse::<Number>().unwrap().least_word(kind);
        assert_eq!((least("0.5", CellType::U8), least("-0.5", CellType::I8)), (Some(1), Some(0)));
        assert_eq!(
            (least("0", CellType::U8), least("255.5", CellType::U8), least("255", CellType::U8)),
            (None, None, Some(255))
        );
        assert_eq!(least("18446744073709551615", CellType::U64), Some(u64::MAX));
        assert_eq!((least("0", CellType::F32), least("-0", CellType::F64)), (Some(1 << 31), Some(1 << 63)));
        // A tenth is no float: the next one above the double.
        let tenth = f32::from_bits(least("0.1", CellType::F32).unwrap() as u32);
        assert!(f64::from(tenth) >= 0.1 && f64::from(tenth.next_down()) < 0.1);
        // 2^53 + 1 is no double.
        assert_eq!(least("9007199254740993", CellType::F64), Some(9_007_199_254_740_994f64.word()));
        assert_eq!(Number::Natural((1 << 53) + 1).double_below(), 9_007_199_254_740_992f64);
        assert_eq!(Number::Natural(u64::MAX).double_below(), (1u128 << 64) as f64 - 2048.0);
    }
}
