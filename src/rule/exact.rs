//! `exact`: when two cells count as one value. Their bits are equal, or neither is a number.
//!
//! -0 is not 0, since their bits differ. What is not a number has many bit patterns, which count as one: a uniform region of
//! them is filled with the usual one, and cells that are stored one by one keep their own.

use crate::cell::{CellType, WordsMut};

/// Makes words of `kind` comparable: afterwards those are equal that count as one value.
pub(crate) fn make_keys(kind: CellType, words: WordsMut<'_>) {
    match (kind, words) {
        (CellType::F32, WordsMut::Narrow(words)) => {
            let nan = f32::NAN.to_bits();
            words.iter_mut().filter(|word| f32::from_bits(**word).is_nan()).for_each(|word| *word = nan);
        }
        (CellType::F64, WordsMut::Wide(words)) => {
            let nan = f64::NAN.to_bits();
            words.iter_mut().filter(|word| f64::from_bits(**word).is_nan()).for_each(|word| *word = nan);
        }
        _ => {}
    }
}

/// The word that stands for every word of the same value: equal values have equal keys. All NaNs have one key; 0 and -0
/// have two.
///
/// ```
/// use orthant::rule::exact::key;
/// use orthant::{Cell, CellType};
///
/// // Two NaNs of different bits count as one value, 0 and -0 as two.
/// let word = |value: f32| key(CellType::F32, value.word());
/// assert_eq!(word(f32::NAN), word(-f32::NAN));
/// assert_ne!(word(0.0), word(-0.0));
/// ```
#[inline]
pub fn key(kind: CellType, word: u64) -> u64 {
    match kind.nan() {
        Some(nan) if kind.number(word).is_nan() => nan,
        _ => word,
    }
}
