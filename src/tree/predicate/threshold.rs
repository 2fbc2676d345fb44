//! Classes of cells: below a threshold, or from it on.

use crate::cell::CellType;
use crate::rule::exact;

/// What a cell of a class is.
pub(super) const BELOW: u64 = 0;
pub(super) const ABOVE: u64 = 1;
/// What is not a number is on neither side.
pub(super) const NO_NUMBER: u64 = 2;
pub(super) const NO_DATA: u64 = 255;

/// The type of a class.
pub(super) const KIND: CellType = CellType::U8;

/// Cells of a type into classes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Classes {
    of: CellType,
    /// The rank of the least cell that is not below.
    at: u64,
    nodata: Option<u64>,
}

impl Classes {
    /// With the least word that is not below, and that of what is no data.
    pub(super) fn new(of: CellType, at: u64, nodata: Option<u64>) -> Self {
        Self { of, at: of.rank(at), nodata: nodata.map(|word| exact::key(of, word)) }
    }

    #[inline]
    pub(super) fn class(self, word: u64) -> u64 {
        let word = exact::key(self.of, word);
        match word {
            _ if Some(word) == self.nodata => NO_DATA,
            _ if Some(word) == self.of.nan() => NO_NUMBER,
            _ if self.of.rank(word) < self.at => BELOW,
            _ => ABOVE,
        }
    }
}
