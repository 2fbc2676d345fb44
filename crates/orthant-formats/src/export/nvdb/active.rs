//! What nodes know of their active cells.

use crate::export::nvdb::layout::Values;
use orthant::per_axis;

/// Cells that are not 0: their box, both ends included, and the least and greatest of their values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Active {
    pub(super) low: [u32; 3],
    pub(super) high: [u32; 3],
    /// None if no value is a number.
    pub(super) range: Option<[u64; 2]>,
}

impl Active {
    pub(super) fn tile(corner: [u32; 3], side: u32, word: u64, values: Values) -> Option<Self> {
        let range = of_word(word, values);
        (word != 0).then(|| Self { low: corner, high: corner.map(|c| c + side - 1), range })
    }

    pub(super) fn join(one: Option<Self>, other: Option<Self>, values: Values) -> Option<Self> {
        let (Some(a), Some(b)) = (one, other) else { return one.or(other) };
        let low = per_axis::each(|j| a.low[j].min(b.low[j]));
        let high = per_axis::each(|j| a.high[j].max(b.high[j]));
        Some(Self { low, high, range: joined(a.range, b.range, values) })
    }
}

/// The range of a word, which is none if it is not a number: renderers take a greatest value for a bound.
pub(super) fn of_word(word: u64, values: Values) -> Option<[u64; 2]> {
    (!values.kind().number(word).is_nan()).then_some([word; 2])
}

/// The range of two.
pub(super) fn joined(one: Option<[u64; 2]>, other: Option<[u64; 2]>, values: Values) -> Option<[u64; 2]> {
    let (Some([a, b]), Some([c, d])) = (one, other) else { return one.or(other) };
    let rank = |word| values.kind().rank(word);
    Some([if rank(c) < rank(a) { c } else { a }, if rank(d) > rank(b) { d } else { b }])
}
