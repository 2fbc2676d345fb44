//! How a list is sorted and divided, whatever its axes.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::backend::Control;
use crate::cell::CellType;
use crate::list::ListError;
use crate::memory::{Refused, reserve};
use crate::parallel;
use crate::result::{MemoryError, Stored};
use crate::rule::exact;
use crate::tree::curve_order::CurveOrder;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::list::divide::{DividedList, Division, ListRegions};
use crate::tree::list::listed::ListedCells;
use crate::tree::list::record::CellRecord;
use crate::tree::provenance::Provenance;

/// Leaves that a thread puts in order at a time.
const LEAVES: usize = 64;

/// Entries whose words are copied at a time.
const WORDS: usize = 1 << 12;

/// The entries of a list, and what all other cells are.
#[derive(Debug)]
pub(super) struct ListEntries {
    pub(super) kind: CellType,
    pub(super) background: u64,
    /// The entries at which division stops.
    pub(super) most: u64,
    pub(super) records: Vec<CellRecord>,
    /// Bytes in memory, at most.
    pub(super) limit: u64,
}

impl ListEntries {
    /// Makes room for so many entries more.
    pub(super) fn reserve(&mut self, entries: usize) -> Result<(), TreeError> {
        let need = (self.records.len() as u128 + entries as u128) * u128::from(CellRecord::BYTES);
        if need > self.limit.into() {
            return Err(MemoryError { what: Stored::Points, need, limit: Some(self.limit) }.into());
        }
        Ok(reserve(&mut self.records, entries).map_err(MemoryError::refused(Stored::Points))?)
    }

    /// Makes room for the next entry.
    #[inline]
    pub(super) fn make_room(&mut self) -> Result<(), ListError> {
        if self.records.len() < self.records.capacity() { Ok(()) } else { self.grow() }
    }

    fn grow(&mut self) -> Result<(), ListError> {
        let need = (self.records.len() as u128 + 1) * u128::from(CellRecord::BYTES);
        let fits = need <= self.limit.into() && reserve(&mut self.records, 1).is_ok();
        fits.then_some(()).ok_or(ListError::Memory { need })
    }

    /// Sorts the list along the curve, and divides the domain.
    pub(super) fn sorted(mut self, regions: &dyn ListRegions, control: &Control) -> Result<SortedCells, TreeError> {
        control.check()?;
        // In place: a copy of the list would be as large as all that is allowed.
        let twice = CellRecord::sort(&mut self.records);
        control.check()?;
        if let Some(twice) = twice {
            let values = [0, 1].map(|i| self.kind.text(twice[i].word));
            return Err(ListError::Twice { cell: regions.cell_text(&twice[0]), values }.into());
        }
        let listed = self.records.len();
        let (kind, background) = (self.kind, self.background);
        self.records.retain(|record| exact::key(kind, record.word) != background);
        let dropped = (listed - self.records.len()) as u64;
        let held = self.records.len() as u64 * CellRecord::BYTES;
        let division = Division {
            regions,
            records: &self.records,
            kind,
            background,
            most: self.most,
            limit: self.limit.saturating_sub(held),
            control,
        };
        let DividedList { entries: rows, ends } = division.whole()?;
        // Where each leaf is, while its entries are put in order.
        let leaves = ends.len() as u64 * (size_of::<u64>() + size_of::<(u32, u64)>()) as u64;
        let need = held + rows.len() as u64 * Entries::BYTES + leaves;
        if need > self.limit {
            return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: Some(self.limit) }.into());
        }
        let entries = self.records.len() as u64;
        // A tree that is divided to the last level says that leaves above it have an entry: there are none.
        self.most = self.most.max(1);
        let mut sorted = SortedCells { list: self, rows, ends, entries, dropped };
        sorted.keep_leaves(regions.order());
        sorted.place(regions, control)?;
        Ok(sorted)
    }
}

/// A list that is sorted along the curve, and its regions.
#[derive(Debug)]
pub(in crate::tree) struct SortedCells {
    /// Leaf by leaf.
    pub(super) list: ListEntries,
    pub(in crate::tree) rows: Entries,
    /// Where the entries of each leaf end.
    pub(super) ends: Vec<u64>,
    /// Entries of leaves and of uniform regions.
    pub(super) entries: u64,
    pub(super) dropped: u64,
}

impl SortedCells {
    /// Drops the entries of uniform regions, since a row says their value. Then the entries of leaves follow each other.
    fn keep_leaves(&mut self, order: &CurveOrder) {
        let (mut filled, mut start) = (0, 0);
        let mut row_leaf = 0;
        let records = &mut self.list.records;
        for row in 0..self.rows.len() {
            let level = self.rows.level(row);
            if self.rows.is_leaf(row) {
                let end = self.ends[row_leaf] as usize;
                records.copy_within(start..end, filled);
                filled += end - start;
                start = end;
                self.ends[row_leaf] = filled as u64;
                row_leaf += 1;
            } else {
                let last = order.last(level, self.rows.keys[row]);
                start += records[start..].partition_point(|record| record.code <= last);
            }
        }
        records.truncate(filled);
    }

    /// Gives each entry its place in its leaf, and puts those of a leaf in that order.
    fn place(&mut self, regions: &dyn ListRegions, control: &Control) -> Result<(), TreeError> {
        let leaves: Vec<(u32, u64)> = (0..self.rows.len())
            .filter(|&row| self.rows.is_leaf(row))
            .map(|row| (self.rows.level(row), self.rows.keys[row]))
            .collect();
        let (mut rest, mut parts, mut start) = (&mut self.list.records[..], Vec::new(), 0);
        for first in (0..leaves.len()).step_by(LEAVES) {
            let end = self.ends[leaves.len().min(first + LEAVES) - 1] as usize;
            let (own, others) = std::mem::take(&mut rest).split_at_mut(end - start);
            parts.push((first, start, Mutex::new(own)));
            (rest, start) = (others, end);
        }
        let (order, ends) = (regions.order(), &self.ends);
        parallel::try_each(parts.len(), &|i| {
            control.check()?;
            let (first, begins, own) = &parts[i];
            let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
            let mut start = *begins;
            for leaf in *first..leaves.len().min(first + LEAVES) {
                let (end, (level, key)) = (ends[leaf] as usize, leaves[leaf]);
                // Places of the last level are those of its leaves.
                if level < order.deepest() {
                    let records = &mut own[start - begins..end - begins];
                    regions.place(level, order.code(level, key), records);
                    CellRecord::sort_places(records);
                }
                start = end;
            }
            Ok::<_, TreeError>(())
        })
    }

    /// Where the records of a leaf are.
    pub(super) fn range(&self, leaf: usize) -> Range<usize> {
        // Entries of uniform regions lie between those of leaves.
        let start = leaf.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        start..self.ends[leaf] as usize
    }

    /// Checks that there is room for the list and its tree.
    pub(super) fn fits(&self) -> Result<(), MemoryError> {
        let ListEntries { kind, records, limit, .. } = &self.list;
        let entries = records.len() as u64 * (ListedCells::PLACE_BYTES + kind.bytes());
        let rows = self.rows.len() as u64 * Entries::BYTES;
        let need = records.len() as u64 * CellRecord::BYTES + entries + rows;
        if need > *limit {
            return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: Some(*limit) });
        }
        Ok(())
    }

    /// Some rows, and the cells of their leaves.
    pub(super) fn part(&self, rows: Range<usize>) -> Result<(Entries, ListedCells), Refused> {
        let mut entries = Entries::default();
        entries.reserve(rows.len())?;
        let mut listed = ListedCells::new(self.list.kind, self.list.background, self.list.most);
        let leaf =
            |row: usize| Some(self.rows.leaf_or_word(row)).filter(|row| row.0).map(|row| self.range(row.1 as usize));
        let leaves = rows.clone().filter_map(leaf);
        listed.reserve(leaves.clone().count(), leaves.map(|range| range.len()).sum())?;
        let mut words = Vec::with_capacity(WORDS);
        for row in rows {
            let (level, key) = (self.rows.level(row), self.rows.keys[row]);
            match leaf(row) {
                None => entries.uniform(level, key, self.rows.leaf_or_word(row).1, Provenance::Proved),
                Some(range) => {
                    entries.leaf(level, key, listed.leaves() as u64);
                    let records = &self.list.records[range];
                    words.clear();
                    words.extend(records.iter().map(|record| record.word));
                    listed.push(records.iter().map(|record| record.place), &words);
                }
            }
        }
        Ok((entries, listed))
    }
}
