//! A list that is sorted and divided.

use std::ops::Range;

use crate::cell::CellType;
use crate::dimension::here;
use crate::tree::along::Along;
use crate::tree::error::TreeError;
use crate::tree::list::layout::ListLayout;
use crate::tree::list::list_entries::SortedCells;
use crate::tree::stored::Tree;

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
    pub(in crate::tree) cells: SortedCells,
}

impl<const K: usize> SortedList<K> {
    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.cells.list.kind
    }

    /// The word of cells that are not listed.
    pub fn background(&self) -> u64 {
        self.cells.list.background
    }

    /// Entries of leaves and uniform regions: all that were listed, but for those of the background's value.
    pub fn entries(&self) -> u64 {
        self.cells.entries
    }

    /// Entries that were listed with the background's value, and are no entries of the tree.
    pub fn dropped(&self) -> u64 {
        self.cells.dropped
    }

    /// Terminal regions, and how many of them are leaves.
    pub fn regions(&self) -> [u64; 2] {
        [self.cells.rows.len() as u64, self.cells.ends.len() as u64]
    }

    /// How its tree is cut into shards.
    pub fn layout(&self) -> ListLayout {
        let SortedCells { rows, list, .. } = &self.cells;
        ListLayout::of(rows, &|leaf| self.cells.range(leaf), list.background, list.most)
    }

    /// Makes the tree, in memory.
    ///
    /// # Errors
    /// [`TreeError::Run`] if there is no memory, or it would exceed the limit.
    pub fn tree(&self) -> Result<Tree<K>, TreeError> {
        self.cells.fits()?;
        self.part(0..self.cells.rows.len(), self.along.whole())
    }

    /// The partial tree of some rows, which cover these keys.
    pub(in crate::tree) fn part(&self, rows: Range<usize>, keys: Range<u128>) -> Result<Tree<K>, TreeError> {
        here!(fn(&SortedList<K>, Range<usize>, Range<u128>) -> Result<Tree<K>, TreeError> =
            |this, rows, keys| this.part_here(rows, keys))(self, rows, keys)
    }

    fn part_here(&self, rows: Range<usize>, keys: Range<u128>) -> Result<Tree<K>, TreeError> {
        let (entries, listed) = self.cells.part(rows)?;
        Tree::listed(self.along.clone(), keys, entries, listed)
    }
}
