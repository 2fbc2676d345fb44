//! A list that is sorted and divided.

use std::ops::Range;

use crate::cell::CellType;
use crate::dimension::here;
use crate::result::{MemoryError, Stored};
use crate::tree::along::Along;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::list::layout::ListLayout;
use crate::tree::list::listed::ListedCells;
use crate::tree::list::record::CellRecord;
use crate::tree::provenance::Provenance;
use crate::tree::stored::Tree;

/// Entries whose words are copied at a time.
const TOGETHER: usize = 1 << 12;

/// A list that is sorted along the curve, and its regions: [`CellList::sorted`](crate::tree::CellList::sorted) makes it.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::CellList;
/// use orthant::{CellType, Control};
///
/// let plan = Plan::builder([1 << 20; 2]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build()?;
/// let mut list = CellList::new(&plan, CellType::U8)?.most(1);
/// [([0, 0], 4), ([1 << 19, 0], 5), ([9, 9], 0)].into_iter().try_for_each(|(cell, word)| list.push(cell, word))?;
/// let sorted = list.sorted(&Control::default())?;
/// // An entry of the background's value is none.
/// assert_eq!((sorted.entries(), sorted.dropped()), (2, 1));
/// // Four quarters of the domain, two of them leaves.
/// assert_eq!(sorted.regions(), [4, 2]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SortedList<const K: usize> {
    pub(in crate::tree) along: Along<K>,
    pub(in crate::tree) kind: CellType,
    pub(super) background: u64,
    pub(super) most: u64,
    pub(in crate::tree) rows: Entries,
    /// Where the entries of each leaf end.
    pub(super) ends: Vec<u64>,
    /// Leaf by leaf.
    pub(super) records: Vec<CellRecord>,
    /// Those of uniform regions, too.
    pub(super) entries: u64,
    pub(super) dropped: u64,
    pub(super) limit: u64,
}

impl<const K: usize> SortedList<K> {
    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The word of cells that are not listed.
    pub fn background(&self) -> u64 {
        self.background
    }

    /// Entries of leaves and uniform regions: all that were listed, but for those of the background's value.
    pub fn entries(&self) -> u64 {
        self.entries
    }

    /// Entries that were listed with the background's value, and are no entries of the tree.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Terminal regions, and how many of them are leaves.
    pub fn regions(&self) -> [u64; 2] {
        [self.rows.len() as u64, self.ends.len() as u64]
    }

    /// How its tree is cut into shards.
    pub fn layout(&self) -> ListLayout {
        ListLayout::of(&self.rows, &|leaf| self.range(leaf), self.background, self.most)
    }

    /// Makes the tree, in memory.
    ///
    /// # Errors
    /// [`TreeError::Run`] if there is no memory, or it would exceed the limit.
    pub fn tree(&self) -> Result<Tree<K>, TreeError> {
        let entries = self.records.len() as u64 * (ListedCells::PLACE_BYTES + self.kind.bytes());
        let rows = self.rows.len() as u64 * Entries::BYTES;
        let need = self.records.len() as u64 * CellRecord::BYTES + entries + rows;
        if need > self.limit {
            return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: Some(self.limit) }.into());
        }
        self.part(0..self.rows.len(), self.along.whole())
    }

    /// Where the records of a leaf are.
    fn range(&self, leaf: usize) -> Range<usize> {
        // Entries of uniform regions lie between those of leaves.
        let start = leaf.checked_sub(1).map_or(0, |before| self.ends[before]) as usize;
        start..self.ends[leaf] as usize
    }

    /// The partial tree of some rows, which cover these keys.
    pub(in crate::tree) fn part(&self, rows: Range<usize>, keys: Range<u128>) -> Result<Tree<K>, TreeError> {
        here!(fn(&SortedList<K>, Range<usize>, Range<u128>) -> Result<Tree<K>, TreeError> =
            |this, rows, keys| this.part_here(rows, keys))(self, rows, keys)
    }

    fn part_here(&self, rows: Range<usize>, keys: Range<u128>) -> Result<Tree<K>, TreeError> {
        let mut entries = Entries::default();
        entries.reserve(rows.len())?;
        let mut listed = ListedCells::new(self.kind, self.background, self.most);
        let leaf =
            |row: usize| Some(self.rows.leaf_or_word(row)).filter(|row| row.0).map(|row| self.range(row.1 as usize));
        let leaves = rows.clone().filter_map(leaf);
        listed.reserve(leaves.clone().count(), leaves.map(|range| range.len()).sum())?;
        let mut words = Vec::with_capacity(TOGETHER);
        for row in rows {
            let (level, key) = (self.rows.level(row), self.rows.keys[row]);
            match leaf(row) {
                None => entries.uniform(level, key, self.rows.leaf_or_word(row).1, Provenance::Proved),
                Some(range) => {
                    entries.leaf(level, key, listed.leaves() as u64);
                    let records = &self.records[range];
                    words.clear();
                    words.extend(records.iter().map(|record| record.word));
                    listed.push(records.iter().map(|record| record.place), &words);
                }
            }
        }
        Tree::listed(self.along.clone(), keys, entries, listed)
    }
}
