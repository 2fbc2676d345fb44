//! What the value of a formula says of a cell.

use crate::field::formula::number::FormulaNumber;
use crate::field::labels::Labels;

/// The labels of values of type T.
#[derive(Debug)]
pub(super) enum FormulaLabels<T> {
    /// 1 where a comparison holds, else 0.
    Truth,
    /// How many of these are at most the value.
    Classes(Vec<T>),
    /// The value itself.
    Value,
}

impl<T: FormulaNumber> FormulaLabels<T> {
    /// The label of a cell with this value, as a word.
    #[inline(always)]
    pub(super) fn word(&self, value: T) -> u64 {
        match self {
            Self::Truth => u64::from(value == T::ONE),
            Self::Classes(thresholds) => thresholds.iter().filter(|&&threshold| threshold <= value).count() as u64,
            // Bits of a NaN differ between processors.
            Self::Value if value.is_nan() => T::NAN.word(),
            Self::Value => value.word(),
        }
    }

    /// What they are to others.
    pub(super) fn labels(&self) -> Labels {
        match self {
            Self::Truth => Labels::counts(1),
            Self::Classes(thresholds) => Labels::counts(thresholds.len() as u64),
            Self::Value => Labels::values(T::TYPE),
        }
    }
}
