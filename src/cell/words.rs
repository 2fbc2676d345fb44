//! Words of cells, in a row, as engines move them.

use crate::cell::kind::{Cell, CellType};

/// The words of cells in a row: 32 bits each if the type has at most four bytes, else 64.
///
/// ```
/// use orthant::Words;
///
/// let words = Words::Narrow(&[7, 8, 9]);
/// assert_eq!((words.len(), words.get(1)), (3, 8));
/// assert_eq!(words.iter().sum::<u64>(), 24);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Words<'a> {
    /// Of types of up to four bytes.
    Narrow(&'a [u32]),
    /// Of types of eight bytes.
    Wide(&'a [u64]),
}

impl<'a> Words<'a> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        match self {
            Self::Narrow(words) => words[index].into(),
            Self::Wide(words) => words[index],
        }
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = u64> + use<'a> {
        let words = *self;
        (0..words.len()).map(move |index| words.get(index))
    }

    /// The first `at`, and the others.
    #[inline]
    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Self::Narrow(words) => {
                let (first, others) = words.split_at(at);
                (Self::Narrow(first), Self::Narrow(others))
            }
            Self::Wide(words) => {
                let (first, others) = words.split_at(at);
                (Self::Wide(first), Self::Wide(others))
            }
        }
    }

    /// Copies them to as many places.
    pub(crate) fn copy_to(&self, to: &mut [u64]) {
        match self {
            Self::Narrow(words) => to.iter_mut().zip(*words).for_each(|(to, &word)| *to = word.into()),
            Self::Wide(words) => to.copy_from_slice(words),
        }
    }

    /// True if one of them is not `word`.
    #[inline]
    pub(crate) fn differ_from(&self, word: u64) -> bool {
        match self {
            Self::Narrow(words) => word > u64::from(u32::MAX) || words.iter().any(|&other| other != word as u32),
            Self::Wide(words) => words.iter().any(|&other| other != word),
        }
    }

    /// All of them added up, modulo 2^64.
    #[inline]
    pub(crate) fn sum(&self) -> u64 {
        match self {
            Self::Narrow(words) => words.iter().map(|&word| u64::from(word)).sum(),
            Self::Wide(words) => words.iter().fold(0, |sum, &word| sum.wrapping_add(word)),
        }
    }
}

/// Room for the words of cells.
///
/// ```
/// use orthant::WordsMut;
///
/// // A field of i16 writes values; -2 becomes its 16 bits.
/// let mut words = [0; 3];
/// WordsMut::Narrow(&mut words).put([1i16, -2, 3]);
/// assert_eq!(words, [1, 0xfffe, 3]);
/// ```
#[derive(Debug, PartialEq, Eq)]
pub enum WordsMut<'a> {
    /// Of types of up to four bytes.
    Narrow(&'a mut [u32]),
    /// Of types of eight bytes.
    Wide(&'a mut [u64]),
}

impl<'a> WordsMut<'a> {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        match self {
            Self::Narrow(words) => words.len(),
            Self::Wide(words) => words.len(),
        }
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes as many values as there are words. `T` is the field's type.
    ///
    /// # Panics
    /// If a word of `T` is wider or narrower than they are.
    #[inline]
    pub fn put<T: Cell>(self, values: impl IntoIterator<Item = T>) {
        let wide = size_of::<T>() == 8;
        assert_eq!(matches!(self, Self::Wide(_)), wide, "{} is not the type that the field said it has", T::TYPE);
        match self {
            Self::Narrow(words) => words.iter_mut().zip(values).for_each(|(word, value)| *word = value.word() as u32),
            Self::Wide(words) => words.iter_mut().zip(values).for_each(|(word, value)| *word = value.word()),
        }
    }

    /// The words of a type of at most four bytes.
    ///
    /// # Panics
    /// If they are of eight: an engine asked a field for words of another type than it said it has.
    #[inline]
    pub fn narrow(self) -> &'a mut [u32] {
        match self {
            Self::Narrow(words) => words,
            Self::Wide(_) => panic!("words of 64 bits were asked of a field whose type has up to 32"),
        }
    }

    /// The first `at`, and the others.
    #[inline]
    pub(crate) fn split_at(self, at: usize) -> (Self, Self) {
        match self {
            Self::Narrow(words) => {
                let (first, others) = words.split_at_mut(at);
                (Self::Narrow(first), Self::Narrow(others))
            }
            Self::Wide(words) => {
                let (first, others) = words.split_at_mut(at);
                (Self::Wide(first), Self::Wide(others))
            }
        }
    }
}

/// Words that are kept from batch to batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WordVec {
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl WordVec {
    /// None yet, of a type.
    pub(crate) fn of(kind: CellType) -> Self {
        match kind.bytes() {
            8 => Self::Wide(Vec::new()),
            _ => Self::Narrow(Vec::new()),
        }
    }

    /// `len` zeros.
    #[inline]
    pub(crate) fn reset(&mut self, len: usize) -> WordsMut<'_> {
        match self {
            Self::Narrow(words) => {
                words.clear();
                words.resize(len, 0);
                WordsMut::Narrow(words)
            }
            Self::Wide(words) => {
                words.clear();
                words.resize(len, 0);
                WordsMut::Wide(words)
            }
        }
    }

    #[inline]
    pub(crate) fn all(&self) -> Words<'_> {
        match self {
            Self::Narrow(words) => Words::Narrow(words),
            Self::Wide(words) => Words::Wide(words),
        }
    }

    pub(crate) fn all_mut(&mut self) -> WordsMut<'_> {
        match self {
            Self::Narrow(words) => WordsMut::Narrow(words),
            Self::Wide(words) => WordsMut::Wide(words),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_written_and_split() {
        for kind in [CellType::U16, CellType::I64] {
            let mut room = WordVec::of(kind);
            let (first, others) = room.reset(5).split_at(2);
            match kind {
                CellType::U16 => {
                    first.put([1u16, 2]);
                    others.narrow().fill(3);
                }
                _ => {
                    first.put([1i64, 2]);
                    others.put([3i64; 3]);
                }
            }
            let all = room.all();
            assert_eq!(all.iter().collect::<Vec<_>>(), [1, 2, 3, 3, 3]);
            let (head, tail) = all.split_at(2);
            assert_eq!((head.get(1), tail.len(), all.sum()), (2, 3, 12));
            assert!(head.differ_from(1) && !tail.differ_from(3) && tail.differ_from(1 << 32 | 3));
        }
    }
}
