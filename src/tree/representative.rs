//! The value that stands for several.

use std::cmp::Reverse;
use std::collections::HashMap;

use crate::cell::CellType;
use crate::registry::registry;

registry! {
    /// Which of the values of its cells stands for a region that is [cut](crate::Tree::cut) off.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    /// use orthant::tree::Representative;
    ///
    /// // 100 of 256 columns are 2, the others are 5. Cut on level 0 one region is left, with one of the two values.
    /// let columns = Array2::from_shape_fn((256, 256), |(_, x)| if x < 100 { 2u8 } else { 5 });
    /// let tree = Tree::<2>::from_array(columns.view())?;
    /// let value = |by| Ok::<_, orthant::tree::TreeError>(tree.cut(0, by)?.word([0, 0]));
    /// assert_eq!((value(Representative::Mode)?, value(Representative::Min)?), (Some(5), Some(2)));
    /// assert_eq!(tree.cut(0, Representative::Mode)?.len(), 1);
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    pub enum Representative("value shown") {
        /// The value that most of its cells have; of several the one that comes first along the curve. For labels.
        Mode = "mode",
        /// The value that comes first along the curve, which no look at the other cells is needed for.
        First = "first",
        /// The least value; -0 is less than 0, and what is not a number is more than any. For thin dark things.
        Min = "min",
        /// The greatest value. For thin bright things.
        Max = "max",
    }
}

impl Representative {
    /// Names the value in a sentence about regions.
    pub fn about(self) -> &'static str {
        match self {
            Self::Mode => "the value that most of their cells have",
            Self::First => "the first of their values",
            Self::Min => "the least of their values",
            Self::Max => "the greatest of their values",
        }
    }
}

/// What was seen of the cells of a region so far, in runs of one value along the curve.
#[derive(Debug)]
pub(super) struct Pick {
    kind: CellType,
    by: Representative,
    first: Option<u64>,
    /// The least or the greatest.
    end: Option<u64>,
    /// Cells of each value and its place in the order of appearance, where that is what counts.
    counts: HashMap<u64, (u128, usize)>,
}

impl Pick {
    pub(super) fn new(kind: CellType, by: Representative) -> Self {
        Self { kind, by, first: None, end: None, counts: HashMap::new() }
    }

    /// False if more runs change nothing.
    pub(super) fn is_open(&self) -> bool {
        self.by != Representative::First || self.first.is_none()
    }

    /// So many more cells of a value.
    pub(super) fn add(&mut self, word: u64, cells: u128) {
        self.first.get_or_insert(word);
        let beats = |other: u64| match self.by {
            Representative::Min => self.kind.rank(word) < self.kind.rank(other),
            _ => self.kind.rank(word) > self.kind.rank(other),
        };
        match self.by {
            Representative::First => {}
            // What is not a number is no greatest one.
            Representative::Max if self.kind.nan() == Some(word) => {}
            Representative::Min | Representative::Max => {
                if self.end.is_none_or(beats) {
                    self.end = Some(word);
                }
            }
            Representative::Mode => {
                let place = self.counts.len();
                let count = &mut self.counts.entry(word).or_insert((0, place)).0;
                *count = count.saturating_add(cells);
            }
        }
    }

    /// The value that stands for all that came; None if nothing did.
    pub(super) fn word(&self) -> Option<u64> {
        let most = self.counts.iter().max_by_key(|(_, (cells, place))| (*cells, Reverse(*place)));
        most.map(|(&word, _)| word).or(self.end).or(self.first)
    }
}
