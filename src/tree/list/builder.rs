//! Lists of cells, and how they are sorted.

use std::sync::{Mutex, PoisonError};

use crate::backend::Control;
use crate::cell::CellType;
use crate::dimension::here;
use crate::list::ListError;
use crate::memory::reserve;
use crate::parallel;
use crate::per_axis;
use crate::plan::Plan;
use crate::result::{MemoryError, Stored};
use crate::rule::{RuleKind, exact};
use crate::tree::along::Along;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::list::divide::{DividedList, Division, LEAF_CELLS};
use crate::tree::list::record::CellRecord;
use crate::tree::list::sorted::SortedList;

/// The entries at which division stops, unless one says otherwise. A row of a region costs about as much as two entries, and leaves that
/// are divided have a sixteenth of that at least, in 4-D: rows stay few beside entries. A box looks at the entries of each leaf that it
/// meets, which are no more than that.
const MOST: u64 = 1024;

/// Leaves that a thread puts in order at a time.
const TOGETHER: usize = 64;

/// A list of cells with their values: makes a tree of a domain that may be far too large for an array. All other cells have one value,
/// the background.
///
/// Memory is 24 bytes for each entry, and 17 for each region, with 24 more for a leaf. The list is sorted in its own place. Those are few in a domain of up to 2^64 cells. In a larger one a region
/// is divided until it has 2^64 cells at most, however few entries it has.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::CellList;
/// use orthant::{CellType, Control};
///
/// let size = [1 << 20; 4];
/// let plan = Plan::builder(size).scheme(Scheme::for_list(size, None, None, None)).rule(RuleKind::Full).build()?;
/// let mut list = CellList::new(&plan, CellType::U16)?.background(9).most(2);
/// list.push([3, 1, 4, 1], 500)?;
/// list.push([1_000_000, 0, 0, 7], 600)?;
/// list.push([1_000_000, 0, 0, 8], 700)?;
/// let tree = list.sorted(&Control::default())?.tree()?;
/// assert_eq!((tree.get([3, 1, 4, 1]), tree.get([3, 1, 4, 2])), (Some(500u16), Some(9u16)));
/// // Neither 2^80 cells nor their regions are there.
/// assert!(tree.len() < 200 && tree.bytes() < 10_000);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CellList<const K: usize> {
    along: Along<K>,
    kind: CellType,
    background: u64,
    most: u64,
    records: Vec<CellRecord>,
    limit: u64,
}

impl<const K: usize> CellList<K> {
    /// A list without entries, over the domain of a plan. The tree lies along the plan's curve, or along Morton's if that is canonical.
    ///
    /// # Errors
    /// [`TreeError::Rule`] if the plan's rule is not `full`; [`ListError::TooLarge`] if regions of the last level have more than 2^64
    /// cells, or sums over all cells more than 128 bits.
    pub fn new(plan: &Plan<K>, kind: CellType) -> Result<Self, TreeError> {
        if plan.rule() != RuleKind::Full {
            return Err(TreeError::Rule(plan.rule()));
        }
        let (along, size) = (Along::new(plan), plan.domain().size());
        // Places of cells are summed up, each up to twice the longest axis.
        let cells = size.iter().try_fold(1u128, |cells, &n| cells.checked_mul(n.into()));
        let summed = cells.and_then(|cells| cells.checked_mul(2 * u128::from(size.iter().copied().max().unwrap_or(0))));
        if summed.is_none() || along.most_cells(along.deepest()) > LEAF_CELLS {
            return Err(ListError::TooLarge { size: per_axis::text(&size) }.into());
        }
        Ok(Self { along, kind, background: 0, most: MOST, records: Vec::new(), limit: u64::MAX })
    }

    /// Gives all cells that are not listed this word, instead of 0. Entries of that value are dropped.
    #[must_use]
    pub fn background(self, word: u64) -> Self {
        Self { background: exact::key(self.kind, word), ..self }
    }

    /// Stops dividing where a region has at most so many entries, instead of 1024. With 0 it never stops before the last level, so that
    /// regions are those of a run of the same list.
    #[must_use]
    pub fn most(self, entries: u64) -> Self {
        Self { most: entries, ..self }
    }

    /// Allows at most so many bytes for the list and its regions.
    #[must_use]
    pub fn mem_limit(self, limit: u64) -> Self {
        Self { limit, ..self }
    }

    /// The number of entries so far.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Makes room for so many entries more.
    ///
    /// # Errors
    /// [`TreeError::Run`] if there is none, or they would exceed the limit.
    pub fn reserve(&mut self, entries: usize) -> Result<(), TreeError> {
        let need = (self.records.len() as u128 + entries as u128) * u128::from(CellRecord::BYTES);
        if need > self.limit.into() {
            return Err(MemoryError { what: Stored::Points, need, limit: Some(self.limit) }.into());
        }
        Ok(reserve(&mut self.records, entries).map_err(MemoryError::refused(Stored::Points))?)
    }

    /// Appends an entry: a cell, and the word of its value.
    ///
    /// # Errors
    /// [`ListError::Outside`] if the domain has no such cell; [`ListError::Memory`] if there is no room.
    pub fn push(&mut self, cell: [u32; K], word: u64) -> Result<(), ListError> {
        let size = self.along.plan().domain().size();
        if let Some(axis) = (0..K).find(|&j| cell[j] >= size[j]) {
            return Err(ListError::Outside { axis, coordinate: cell[axis], size: size[axis] });
        }
        if self.records.len() == self.records.capacity() {
            let need = (self.records.len() as u128 + 1) * u128::from(CellRecord::BYTES);
            let fits = need <= self.limit.into() && reserve(&mut self.records, 1).is_ok();
            fits.then_some(()).ok_or(ListError::Memory { need })?;
        }
        let coords = self.along.coords(cell);
        let place = self.along.region_at(coords).place(cell) as u64;
        self.records.push(CellRecord { code: self.along.key_at(coords), place, word });
        Ok(())
    }

    /// Sorts the list along the curve, and divides the domain.
    ///
    /// # Errors
    /// [`ListError::Twice`] if a cell is listed twice, whatever its values; [`TreeError::Run`] if it was interrupted or there is no memory.
    pub fn sorted(self, control: &Control) -> Result<SortedList<K>, TreeError> {
        here!(fn(CellList<K>, &Control) -> Result<SortedList<K>, TreeError> = |this, control| this.sorted_here(control))(
            self, control,
        )
    }

    fn sorted_here(self, control: &Control) -> Result<SortedList<K>, TreeError> {
        let Self { along, kind, background, most, mut records, limit } = self;
        control.check()?;
        // In place: a copy of the list would be as large as all that is allowed.
        let twice = CellRecord::sort(&mut records);
        control.check()?;
        if let Some(twice) = twice {
            let cell = cell_of(&along, &twice[0]).map(|c| c.to_string()).join(", ");
            return Err(ListError::Twice { cell, values: [0, 1].map(|i| kind.text(twice[i].word)) }.into());
        }
        let listed = records.len();
        records.retain(|record| exact::key(kind, record.word) != background);
        let dropped = (listed - records.len()) as u64;
        let held = records.len() as u64 * CellRecord::BYTES;
        let division = Division {
            regions: &along,
            records: &records,
            kind,
            background,
            most,
            limit: limit.saturating_sub(held),
            control,
        };
        let DividedList { entries: rows, ends } = division.whole()?;
        // Where each leaf is, while its entries are put in order.
        let leaves = ends.len() as u64 * (size_of::<u64>() + size_of::<(u32, u64)>()) as u64;
        let need = held + rows.len() as u64 * Entries::BYTES + leaves;
        if need > limit {
            return Err(MemoryError { what: Stored::Terminals, need: need.into(), limit: Some(limit) }.into());
        }
        let entries = records.len() as u64;
        // A tree that is divided to the last level says that leaves above it have an entry: there are none.
        let most = most.max(1);
        let mut sorted = SortedList { along, kind, background, most, rows, ends, records, entries, dropped, limit };
        sorted.keep_leaves();
        sorted.place(control)?;
        Ok(sorted)
    }
}

/// The cell of an entry whose place is that in its region of the last level.
fn cell_of<const K: usize>(along: &Along<K>, record: &CellRecord) -> [u32; K] {
    let coords = along.plan().encoding().decode(along.deepest(), record.code);
    let region = along.region_at(coords);
    region.cell(region.offset(record.place))
}

impl<const K: usize> SortedList<K> {
    /// Drops the entries of uniform regions, which are said by their rows, so that those of leaves follow each other.
    fn keep_leaves(&mut self) {
        let (mut filled, mut start) = (0, 0);
        let mut row_leaf = 0;
        for row in 0..self.rows.len() {
            let level = self.rows.level(row);
            if self.rows.is_leaf(row) {
                let end = self.ends[row_leaf] as usize;
                self.records.copy_within(start..end, filled);
                filled += end - start;
                start = end;
                self.ends[row_leaf] = filled as u64;
                row_leaf += 1;
            } else {
                let last = self.along.last(level, self.rows.keys[row]);
                start += self.records[start..].partition_point(|record| record.code <= last);
            }
        }
        self.records.truncate(filled);
    }

    /// Gives each entry its place in its leaf, and puts those of a leaf in that order.
    fn place(&mut self, control: &Control) -> Result<(), TreeError> {
        let leaves: Vec<(u32, u64)> = (0..self.rows.len())
            .filter(|&row| self.rows.is_leaf(row))
            .map(|row| (self.rows.level(row), self.rows.keys[row]))
            .collect();
        let (mut rest, mut parts, mut start) = (&mut self.records[..], Vec::new(), 0);
        for first in (0..leaves.len()).step_by(TOGETHER) {
            let end = self.ends[leaves.len().min(first + TOGETHER) - 1] as usize;
            let (own, others) = std::mem::take(&mut rest).split_at_mut(end - start);
            parts.push((first, start, Mutex::new(own)));
            (rest, start) = (others, end);
        }
        let (along, ends) = (&self.along, &self.ends);
        parallel::try_each(parts.len(), &|i| {
            control.check()?;
            let (first, begins, own) = &parts[i];
            let mut own = own.lock().unwrap_or_else(PoisonError::into_inner);
            let mut start = *begins;
            for leaf in *first..leaves.len().min(first + TOGETHER) {
                let (end, (level, key)) = (ends[leaf] as usize, leaves[leaf]);
                // Places of the last level are those of its leaves.
                if level < along.deepest() {
                    let region = along.plan().region(level, along.code(level, key));
                    let records = &mut own[start - begins..end - begins];
                    records.iter_mut().for_each(|record| record.place = region.place(cell_of(along, record)) as u64);
                    CellRecord::sort_places(records);
                }
                start = end;
            }
            Ok::<_, TreeError>(())
        })
    }
}
