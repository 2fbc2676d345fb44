//! What the labels of a field are.

use crate::cell::CellType;

/// What the labels of a field are: counts from 0 on, or values of one type. Any type that holds the counts can store
/// them.
///
/// ```
/// use orthant::CellType;
/// use orthant::field::Labels;
///
/// // Counts take the type that the run stores; values keep their own.
/// let (counts, heights) = (Labels::counts(512), Labels::values(CellType::F32));
/// assert_eq!((counts.most(), counts.cell(CellType::U16)), (Some(512), CellType::U16));
/// assert_eq!((heights.most(), heights.cell(CellType::U16)), (None, CellType::F32));
/// // Iterations are counts that add up to work.
/// assert!(Labels::iterations(512).work() && !counts.work());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Labels {
    kind: CellType,
    most: Option<u64>,
    work: bool,
}

impl Labels {
    /// Counts from 0 to `most`. Their words are u32 if that fits, else u64.
    pub fn counts(most: u64) -> Self {
        let kind = if most <= u64::from(u32::MAX) { CellType::U32 } else { CellType::U64 };
        Self { kind, most: Some(most), work: false }
    }

    /// Numbers of iterations from 0 to `most`: counts whose sum is the work.
    pub fn iterations(most: u32) -> Self {
        Self { work: true, ..Self::counts(most.into()) }
    }

    /// Values of a type, with any bits. A run stores them as they are.
    pub fn values(kind: CellType) -> Self {
        Self { kind, most: None, work: false }
    }

    /// The type of the words that the field is asked for.
    #[inline]
    pub fn kind(self) -> CellType {
        self.kind
    }

    /// The largest count; None of values.
    pub fn most(self) -> Option<u64> {
        self.most
    }

    /// True if a label is the number of iterations that its cell cost, so that labels add up to work.
    #[inline]
    pub fn work(self) -> bool {
        self.work
    }

    /// The type in which a run stores them: counts in the type that you choose, values in their own.
    pub fn cell(self, chosen: CellType) -> CellType {
        if self.most.is_some() { chosen } else { self.kind }
    }
}
