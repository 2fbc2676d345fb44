//! Where in the rows a key lies, to within a few of them.
//!
//! The keys' range is cut into about twice as many equal parts as there are rows, and for each part it is known how many rows begin
//! before it: a look-up then searches the rows of one part, where it would search all of them.

use std::ops::Range;

use crate::memory::{Refused, zeros};
use crate::parallel;

/// Parts that a thread counts.
const TOGETHER: usize = 1 << 12;

/// The parts of a range of keys.
#[derive(Debug, Clone)]
pub(super) struct Finder {
    /// The first key of the range.
    start: u64,
    /// A key's part is its distance from there without so many bits.
    shift: u32,
    /// Rows that begin before each part, and at the end all rows. Empty if there are too many to be counted in 32 bits.
    before: Vec<u32>,
}

impl Finder {
    /// For these keys, which ascend, and of which the first begins the range.
    pub(super) fn new(keys: &[u64], range: &Range<u128>) -> Result<Self, Refused> {
        let (start, codes) = (range.start as u64, range.end - range.start);
        if u32::try_from(keys.len()).is_err() {
            // Shifted to nothing, keys make no part whose end is beyond a number.
            return Ok(Self { start, shift: u64::BITS - 1, before: Vec::new() });
        }
        let bits = u128::BITS - (codes - 1).leading_zeros();
        let shift = bits.saturating_sub(keys.len().ilog2() + 1);
        let mut before = zeros(((codes - 1) >> shift) as usize + 2)?;
        parallel::pieces_mut(&mut before, TOGETHER, &|i, before| {
            let first = i * TOGETHER;
            let is_before = |key: &u64, part: usize| (((key - start) >> shift) as usize) < part;
            let mut row = keys.partition_point(|key| is_before(key, first));
            for (part, before) in (first..).zip(before) {
                row += keys[row..].iter().take_while(|key| is_before(key, part)).count();
                *before = row as u32;
            }
        });
        Ok(Self { start, shift, before })
    }

    /// The number of the row that holds what has this key, one of the range: the last whose own key is not above it.
    #[inline]
    pub(super) fn holding(&self, keys: &[u64], key: u64) -> usize {
        let part = ((key - self.start) >> self.shift) as usize;
        let rows = match self.before.get(part..part + 2) {
            Some(ends) => ends[0] as usize..ends[1] as usize,
            None => 0..keys.len(),
        };
        rows.start + keys[rows].partition_point(|&first| first <= key) - 1
    }

    /// Bytes that it takes.
    pub(super) fn bytes(&self) -> u64 {
        (self.before.len() * size_of::<u32>()) as u64
    }
}
