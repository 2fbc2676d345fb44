//! Lists of cells.

use crate::backend::Control;
use crate::cell::CellType;
use crate::dimension::here;
use crate::list::ListError;
use crate::per_axis;
use crate::plan::Plan;
use crate::rule::{RuleKind, exact};
use crate::tree::along::Along;
use crate::tree::error::TreeError;
use crate::tree::list::divide::{LEAF_CELLS, ListRegions};
use crate::tree::list::list_entries::ListEntries;
use crate::tree::list::record::CellRecord;
use crate::tree::list::sorted::SortedList;

/// The entries at which division stops, unless one says otherwise. A row of a region costs about as much as two entries, and leaves that
/// are divided have a sixteenth of that at least, in 4-D: rows stay few beside entries. A box looks at the entries of each leaf that it
/// meets, which are no more than that.
const MOST: u64 = 1024;

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
    list: ListEntries,
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
        if !are_summed(&size) || along.most_cells(along.deepest()) > LEAF_CELLS {
            return Err(ListError::TooLarge { size: per_axis::text(&size) }.into());
        }
        let list = ListEntries { kind, background: 0, most: MOST, records: Vec::new(), limit: u64::MAX };
        Ok(Self { along, list })
    }

    /// Gives all cells that are not listed this word, instead of 0. Entries of that value are dropped.
    #[must_use]
    pub fn background(mut self, word: u64) -> Self {
        self.list.background = exact::key(self.list.kind, word);
        self
    }

    /// Stops dividing where a region has at most so many entries, instead of 1024. With 0 it never stops before the last level, so that
    /// regions are those of a run of the same list.
    #[must_use]
    pub fn most(mut self, entries: u64) -> Self {
        self.list.most = entries;
        self
    }

    /// Allows at most so many bytes for the list and its regions.
    #[must_use]
    pub fn mem_limit(mut self, limit: u64) -> Self {
        self.list.limit = limit;
        self
    }

    /// The number of entries so far.
    pub fn len(&self) -> usize {
        self.list.records.len()
    }

    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        self.list.records.is_empty()
    }

    /// Makes room for so many entries more.
    ///
    /// # Errors
    /// [`TreeError::Run`] if there is none, or they would exceed the limit.
    pub fn reserve(&mut self, entries: usize) -> Result<(), TreeError> {
        self.list.reserve(entries)
    }

    /// Appends an entry: a cell, and the word of its value.
    ///
    /// # Errors
    /// [`ListError::Outside`] if the domain has no such cell; [`ListError::Memory`] if there is no room.
    pub fn push(&mut self, cell: [u32; K], word: u64) -> Result<(), ListError> {
        let size = self.along.plan().domain().size();
        for axis in 0..K {
            if cell[axis] >= size[axis] {
                return Err(ListError::Outside { axis, coordinate: cell[axis], size: size[axis] });
            }
        }
        self.list.make_room()?;
        let coords = self.along.coords(cell);
        let place = self.along.region_at(coords).place(cell) as u64;
        self.list.records.push(CellRecord { code: self.along.key_at(coords), place, word });
        Ok(())
    }

    /// Sorts the list along the curve, and divides the domain.
    ///
    /// # Errors
    /// [`ListError::Twice`] if a cell is listed twice, whatever its values; [`TreeError::Run`] if it was interrupted or there is no memory.
    pub fn sorted(self, control: &Control) -> Result<SortedList<K>, TreeError> {
        here!(fn(CellList<K>, &Control) -> Result<SortedList<K>, TreeError> = CellList::<K>::sorted_here)(self, control)
    }

    fn sorted_here(self, control: &Control) -> Result<SortedList<K>, TreeError> {
        let cells = self.list.sorted(&self.along, control)?;
        Ok(SortedList { along: self.along, cells })
    }
}

/// True if 128 bits hold the sum of the places of all cells, each of which is up to twice the longest axis.
fn are_summed(size: &[u32]) -> bool {
    let cells = size.iter().try_fold(1u128, |cells, &n| cells.checked_mul(n.into()));
    cells.and_then(|cells| cells.checked_mul(2 * u128::from(size.iter().copied().max().unwrap_or(0)))).is_some()
}

impl<const K: usize> ListRegions for Along<K> {
    fn cell_text(&self, record: &CellRecord) -> String {
        cell_text(&cell_of(self, record))
    }

    fn place(&self, level: u32, code: u64, records: &mut [CellRecord]) {
        let region = self.plan().region(level, code);
        records.iter_mut().for_each(|record| record.place = region.place(cell_of(self, record)) as u64);
    }
}

/// A cell in words.
fn cell_text(cell: &[u32]) -> String {
    cell.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// The cell of an entry whose place is that in its region of the last level.
fn cell_of<const K: usize>(along: &Along<K>, record: &CellRecord) -> [u32; K] {
    let coords = along.plan().encoding().decode(along.deepest(), record.code);
    let region = along.region_at(coords);
    region.cell(region.offset(record.place))
}
