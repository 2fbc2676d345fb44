//! The division of a sorted list into regions.

use std::ops::Range;

use crate::backend::Control;
use crate::cell::CellType;
use crate::memory::reserve;
use crate::result::{MemoryError, Stored};
use crate::rule::exact;
use crate::tree::curve_order::CurveRegions;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::list::record::CellRecord;
use crate::tree::provenance::Provenance;

/// The most cells of a leaf: 64 bits hold the place of each.
pub(in crate::tree) const LEAF_CELLS: u128 = 1 << 64;

/// The regions of a list, however many axes they have.
pub(super) trait ListRegions: CurveRegions {
    /// The cell of an entry in words.
    fn cell_text(&self, record: &CellRecord) -> String;
    /// Gives entries their places in the region that a level's code names. Before they have those in their regions of the last level.
    fn place(&self, level: u32, code: u64, records: &mut [CellRecord]);
}

/// What a list is divided by.
pub(super) struct Division<'d> {
    pub(super) regions: &'d dyn ListRegions,
    pub(super) records: &'d [CellRecord],
    pub(super) kind: CellType,
    pub(super) background: u64,
    pub(super) most: u64,
    /// Bytes of regions, at most.
    pub(super) limit: u64,
    pub(super) control: &'d Control,
}

/// Regions along the curve, and where the entries of each leaf end.
#[derive(Debug, Default)]
pub(super) struct DividedList {
    pub(super) entries: Entries,
    pub(super) ends: Vec<u64>,
}

impl Division<'_> {
    /// Divides the whole domain.
    pub(super) fn whole(&self) -> Result<DividedList, TreeError> {
        let mut found = DividedList::default();
        self.family(0, 0, self.regions.order().codes(0), 0..self.records.len(), &mut found)?;
        Ok(found)
    }

    /// So many regions of a level from a code on, and the entries of all.
    fn family(
        &self,
        level: u32,
        first: u64,
        count: u128,
        range: Range<usize>,
        found: &mut DividedList,
    ) -> Result<(), TreeError> {
        self.control.check()?;
        let need = (found.entries.len() as u128 + count) * u128::from(Entries::BYTES) + 8 * found.ends.len() as u128;
        if need > self.limit.into() || usize::try_from(count).is_err() {
            return Err(MemoryError { what: Stored::Terminals, need, limit: Some(self.limit) }.into());
        }
        found.entries.reserve(count as usize)?;
        reserve(&mut found.ends, count as usize)?;
        let mut start = range.start;
        for code in (0..count as u64).map(|child| first + child) {
            let last = self.regions.order().last(level, self.regions.order().key(level, code));
            let end = start + self.records[start..range.end].partition_point(|record| record.code <= last);
            self.region(level, code, start..end, found)?;
            start = end;
        }
        Ok(())
    }

    /// A region and its entries.
    fn region(&self, level: u32, code: u64, range: Range<usize>, found: &mut DividedList) -> Result<(), TreeError> {
        let key = self.regions.order().key(level, code);
        let Some(first) = self.records[range.clone()].first() else {
            found.entries.uniform(level, key, self.background, Provenance::Proved);
            return Ok(());
        };
        let (cells, word) = (self.regions.cells_of(level, code), exact::key(self.kind, first.word));
        let one = |record: &CellRecord| exact::key(self.kind, record.word) == word;
        if range.len() as u128 == cells && self.records[range.clone()].iter().all(one) {
            found.entries.uniform(level, key, word, Provenance::Proved);
            return Ok(());
        }
        if level == self.regions.order().deepest() || (range.len() as u64 <= self.most && cells <= LEAF_CELLS) {
            found.entries.leaf(level, key, found.ends.len() as u64);
            reserve(&mut found.ends, 1)?;
            found.ends.push(range.end as u64);
            return Ok(());
        }
        let children = self.regions.order().children;
        self.family(level + 1, code.wrapping_mul(children), children.into(), range, found)
    }
}
