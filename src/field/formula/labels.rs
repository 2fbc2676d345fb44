//! What the value of a formula says of a cell.

use crate::cell::WordsMut;
use crate::field::formula::intervals::FormulaBounds;
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

    /// The labels of cells with these values, of which there may be more than cells.
    pub(super) fn put(&self, values: &[T], words: WordsMut<'_>) {
        match (self, words) {
            (Self::Truth, WordsMut::Narrow(words)) => {
                words.iter_mut().zip(values).for_each(|(word, &value)| *word = u32::from(value == T::ONE));
            }
            (_, WordsMut::Narrow(words)) => {
                words.iter_mut().zip(values).for_each(|(word, &value)| *word = self.word(value) as u32);
            }
            (_, WordsMut::Wide(words)) => {
                words.iter_mut().zip(values).for_each(|(word, &value)| *word = self.word(value));
            }
        }
    }

    /// The label of all cells whose values are within these bounds, if it is certain that they have the same.
    pub(super) fn proven(&self, FormulaBounds { low, high }: FormulaBounds<T>) -> Option<u64> {
        let proven = match self {
            _ if low.is_nan() => false,
            // A bound of 0 says nothing of the sign of zeros.
            Self::Value => low.bits() == high.bits() && low != T::ZERO,
            _ => self.word(low) == self.word(high),
        };
        proven.then(|| self.word(low))
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
