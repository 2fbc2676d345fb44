//! Labels of steps: how many whole steps a cell is above a first value.
//!
//! Whole numbers by whole steps are counted as such. Others are, as NumPy counts them, `floor((v - lo) / step)` in doubles: each of
//! the three keeps the order of what it rounds.

use crate::cell::{Cell, CellType, with_type};
use crate::number::{Number, range, word_of_whole};
use crate::rule::exact;

/// Cells of a type into labels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Steps {
    of: CellType,
    /// The type of the labels, whose two least numbers are not a number and no data.
    pub(super) kind: CellType,
    count: Count,
    nodata: Option<u64>,
}

#[derive(Debug, Clone, Copy)]
enum Count {
    /// Of less than 64 bits, with the step and the first value.
    Narrow(i64, i64),
    Wide(i128, i128),
    Real(f64, f64),
}

/// Types of labels, the narrowest first.
pub(super) const KINDS: [CellType; 4] = [CellType::I8, CellType::I16, CellType::I32, CellType::I64];

/// The least label of a type.
fn first(kind: CellType) -> i128 {
    range(kind)[0] + 2
}

impl Steps {
    /// Labels of the narrowest type that holds those of all cells there can be; of cells with a point `i32`.
    ///
    /// # Errors
    /// Says what is wrong with the step or the first value.
    pub(super) fn new(of: CellType, step: Number, lo: Number, nodata: Option<u64>) -> Result<Self, String> {
        if step.real() <= 0.0 {
            return Err("the step is greater than 0".into());
        }
        let nodata = nodata.map(|word| exact::key(of, word));
        if of.is_float() {
            return Ok(Self { of, kind: CellType::I32, count: Count::Real(step.real(), lo.real()), nodata });
        }
        let narrow = |whole: i128| i64::try_from(whole).ok().filter(|whole| whole.unsigned_abs() < 1 << 62);
        let count = match (step.whole(), lo.whole()) {
            (Some(step), Some(lo)) if of.bytes() < 8 => match (narrow(step), narrow(lo)) {
                (Some(step), Some(lo)) => Count::Narrow(step, lo),
                _ => return Err(format!("of cells of {of} a step and a first value below 2^62 make labels")),
            },
            (Some(step), Some(lo)) if lo.unsigned_abs() < 1 << 100 => Count::Wide(step, lo),
            _ if of.bytes() < 8 => Count::Real(step.real(), lo.real()),
            _ => {
                return Err(format!(
                    "{of} has digits that a double has not; give a whole step and a whole first value"
                ));
            }
        };
        let ends = range(of).map(|end| count.label(of, word_of_whole(of, end)));
        let holds = |kind: &CellType| {
            let label = |end: Option<i128>| end.is_some_and(|end| (first(*kind)..=range(*kind)[1]).contains(&end));
            ends.into_iter().all(label)
        };
        match KINDS.into_iter().find(holds) {
            Some(kind) => Ok(Self { of, kind, count, nodata }),
            None => Err(format!("labels of {of} would not fit 64 bits; give a larger step")),
        }
    }

    /// The word of what is not a number.
    fn no_number(self) -> u64 {
        word_of_whole(self.kind, range(self.kind)[0])
    }

    /// The word of what is no data.
    pub(super) fn no_data(self) -> u64 {
        word_of_whole(self.kind, range(self.kind)[0] + 1)
    }

    /// The word of a cell's label; None if the type does not hold it.
    #[inline]
    pub(super) fn label(self, word: u64) -> Option<u64> {
        let word = exact::key(self.of, word);
        if Some(word) == self.nodata {
            return Some(self.no_data());
        }
        if Some(word) == self.of.nan() {
            return Some(self.no_number());
        }
        let label = self.count.label(self.of, word)?;
        let [_, last] = range(self.kind);
        (first(self.kind)..=last).contains(&label).then(|| word_of_whole(self.kind, label))
    }
}

impl Count {
    #[inline]
    #[allow(clippy::unnecessary_cast, reason = "one body for every type")]
    fn label(self, of: CellType, word: u64) -> Option<i128> {
        match self {
            Self::Narrow(step, lo) => {
                with_type!(of, T => Some((T::from_word(word) as i64 - lo).div_euclid(step).into()))
            }
            Self::Wide(step, lo) => with_type!(of, T => Some((T::from_word(word) as i128 - lo).div_euclid(step))),
            Self::Real(step, lo) => {
                let label = ((of.number(word) - lo) / step).floor();
                // Beyond that no type of labels reaches.
                (label.abs() < (1u64 << 62) as f64).then_some(label as i128)
            }
        }
    }
}
