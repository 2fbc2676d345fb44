//! The tree itself: what it holds, and what follows from that alone.

use std::ops::Range;
use std::sync::OnceLock;

use crate::cell::CellType;
use crate::dimension::here;
use crate::memory::Refused;
use crate::parallel;
use crate::plan::Plan;
use crate::result::{Cells, RegionsChecksum, Terminal, append_le};
use crate::tree::along::Along;
use crate::tree::curve_order::{CurveOrder, CurveRegions};
use crate::tree::direct::Direct;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::finder::Finder;
use crate::tree::list::{ListedCells, ListedLeaf};

/// The terminal regions of a domain in the order of the curve, and the bricks of its leaves in the same order.
///
/// A tree can be *partial*: it covers a run of the curve, its [part](Self::codes), and answers for what lies in it.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64])
///     .window([[0.0, 1.0]; 2])
///     .sample(Sample::Centre)
///     .scheme(Scheme::uniform(4, 2, 2))
///     .curve(CurveKind::Hilbert)
///     .rule(RuleKind::Full)
///     .build()?;
/// let disc = CellField::new(1, |[x, y]| u32::from((x * x + y * y) < 1000));
/// let tree = Tree::of(Run::new(&plan, &disc).how(How::default().keep(Keep::Regions)).start()?)?;
/// assert_eq!((tree.word([10, 10]), tree.word_at([0.9, 0.9])), (Some(1), Some(0)));
/// let mut row = [0u16; 64];
/// tree.read(&Region { corner: [0, 3], extent: [64, 1] }, &mut row)?;
/// assert_eq!(row.iter().sum::<u16>(), 32);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Tree<const K: usize> {
    pub(super) along: Along<K>,
    pub(super) part: Range<u128>,
    pub(super) entries: Entries,
    pub(super) bricks: Cells,
    /// Of the tree of a list the cells of its leaves, none of which has a brick.
    pub(super) list: Option<Box<ListedCells>>,
    pub(super) finder: Finder,
    /// Made when the first cell is looked up; None if it would take too much.
    direct: OnceLock<Option<Box<Direct<K>>>>,
}

/// Equal if the same parts of their domains are cut into the same regions along the same curve, known in the same way, with the
/// same values and bricks to the bit. Where in a window the cells lie does not matter.
impl<const K: usize> PartialEq for Tree<K> {
    fn eq(&self, other: &Self) -> bool {
        let shape = |plan: &Plan<K>| (plan.domain().size(), *plan.scheme(), plan.curve());
        shape(self.plan()) == shape(other.plan())
            && self.entries == other.entries
            && self.bricks == other.bricks
            && self.list == other.list
    }
}

impl<const K: usize> Tree<K> {
    /// A tree of regions in the order of their keys, which cover `part`, with the bricks of its leaves in the same order.
    pub(super) fn new(along: Along<K>, part: Range<u128>, entries: Entries, bricks: Cells) -> Result<Self, TreeError> {
        if tiles(&along, &entries, &part) {
            return Ok(Self::tiled(along, part, entries, bricks)?);
        }
        Err(TreeError::Tiling { found: entries.len(), cells: cells(&along, &entries), total: along.cells(part) })
    }

    /// The same of regions that were seen to cover the part.
    pub(super) fn tiled(along: Along<K>, part: Range<u128>, entries: Entries, bricks: Cells) -> Result<Self, Refused> {
        let finder = Finder::new(&entries.keys, &part)?;
        Ok(Self { along, part, entries, bricks, list: None, finder, direct: OnceLock::new() })
    }

    /// The tree of a list: of regions in the order of their keys, which cover `part`, with the cells of its leaves in the same order.
    pub(super) fn listed(
        along: Along<K>,
        part: Range<u128>,
        entries: Entries,
        list: ListedCells,
    ) -> Result<Self, TreeError> {
        let bricks = Cells::empty(list.words.kind());
        Ok(Self { list: Some(Box::new(list)), ..Self::new(along, part, entries, bricks)? })
    }

    /// The entries of a row that is a sparse leaf.
    #[inline]
    pub(super) fn listed_leaf(&self, row: usize) -> Option<ListedLeaf<'_>> {
        let list = self.list.as_ref()?;
        let (leaf, number) = self.entries.leaf_or_word(row);
        leaf.then(|| list.leaf(number as usize))
    }

    /// True of the tree of a list: leaves have entries instead of bricks, and lie on any level.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    ///
    /// let tree = Tree::<2>::from_array(Array2::<u8>::zeros((40, 60)).view())?;
    /// assert!(!tree.is_listed());
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    pub fn is_listed(&self) -> bool {
        self.list.is_some()
    }

    /// The domain, the scheme, the curve that the regions lie along (never the canonical one), and the rule that found
    /// them.
    pub fn plan(&self) -> &Plan<K> {
        self.along.plan()
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.bricks.kind()
    }

    /// The codes of the deepest level that it covers: all of them, unless the tree is partial.
    pub fn codes(&self) -> Range<u128> {
        self.part.clone()
    }

    /// True if it covers the whole domain.
    pub fn is_whole(&self) -> bool {
        self.part == self.along.whole()
    }

    /// The number of terminal regions, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "a part has cells, and a tree covers them")]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// The cells of the leaves, brick after brick, along the curve.
    pub fn bricks(&self) -> &Cells {
        &self.bricks
    }

    /// The cells of the leaves, without the rest.
    pub(super) fn into_bricks(self) -> Cells {
        self.bricks
    }

    /// The bytes in memory of regions, bricks and the index. The first look-up of a cell may add a table: of a quarter
    /// of that at most, or of a megabyte if that is more.
    pub fn bytes(&self) -> u64 {
        self.held() + self.direct.get().and_then(Option::as_ref).map_or(0, |direct| direct.bytes())
    }

    /// The same without that table.
    fn held(&self) -> u64 {
        let bricks = self.bricks.len() as u64 * self.bricks.kind().bytes();
        let listed = self.list.as_ref().map_or(0, |list| list.bytes());
        self.entries.len() as u64 * Entries::BYTES + bricks + listed + self.finder.bytes()
    }

    /// What finds a row without a search.
    #[inline]
    pub(super) fn direct(&self) -> Option<&Direct<K>> {
        let make = || Direct::new(&self.along, &self.entries, self.held()).map(Box::new);
        self.direct.get_or_init(make).as_deref()
    }

    /// The checksum of the regions. Every way to the same regions has the same checksum, and so has the run that left
    /// them.
    pub fn checksum(&self) -> RegionsChecksum {
        self.checksum_of(0..self.len())
    }

    /// The same of some regions.
    pub(super) fn checksum_of(&self, rows: Range<usize>) -> RegionsChecksum {
        here!(fn(&Tree<K>, Range<usize>) -> RegionsChecksum = Tree::<K>::checksum_of_here)(self, rows)
    }

    fn checksum_of_here(&self, rows: Range<usize>) -> RegionsChecksum {
        if self.list.is_some() {
            return self.checksum_of_list(rows);
        }
        let brick = |terminal: &Terminal, place: Option<u64>, bytes: &mut Vec<u8>| {
            let start = place.expect("leaves of a tree have bricks") as usize;
            let cells = self.along.volume(terminal.level(), self.along.key(terminal.level(), terminal.code)) as usize;
            append_le(&self.bricks, start..start + cells, bytes);
        };
        // As many at a time as a batch of a run.
        sum(rows, 1 << 16, &|rows| RegionsChecksum::of(self.plan(), &self.entries.terminals(&self.along, rows), &brick))
    }

    /// The same of the tree of a list.
    fn checksum_of_list(&self, rows: Range<usize>) -> RegionsChecksum {
        let encoding = self.plan().encoding();
        let some = |i: usize| {
            let (mut bytes, mut sum, mut uniform) = (Vec::new(), RegionsChecksum::default(), Vec::new());
            for row in parallel::piece(rows.len(), TOGETHER, i).map(|row| rows.start + row) {
                let terminal = self.entries.terminal(&self.along, row);
                match self.listed_leaf(row) {
                    None => uniform.push(terminal),
                    Some(leaf) => {
                        let coords = encoding.decode(terminal.level(), terminal.code);
                        sum += leaf.checksum(terminal.level(), &coords, &mut bytes);
                    }
                }
            }
            sum + RegionsChecksum::of(self.plan(), &uniform, &|_, _, _| unreachable!("a uniform region has no brick"))
        };
        parallel::map(rows.len().div_ceil(TOGETHER), &some).into_iter().sum()
    }
}

/// Rows that a thread looks at.
const TOGETHER: usize = 1 << 14;

/// True if there are regions, and each begins where the one before it ends, from the first key of the part to the last.
pub(super) fn tiles(order: &CurveOrder, entries: &Entries, part: &Range<u128>) -> bool {
    let end = |row: usize| order.run(entries.level(row), entries.keys[row]).end;
    let follows = |row: usize| u128::from(entries.keys[row]) == if row == 0 { part.start } else { end(row - 1) };
    let some = |i| parallel::piece(entries.len(), TOGETHER, i).all(follows);
    let all = parallel::map(entries.len().div_ceil(TOGETHER), &some).into_iter().all(|follows| follows);
    all && entries.len() > 0 && end(entries.len() - 1) == part.end
}

/// The cells of all regions.
fn cells(regions: &dyn CurveRegions, entries: &Entries) -> u128 {
    let cells = |row: usize| {
        let level = entries.level(row);
        regions.cells_of(level, regions.order().code(level, entries.keys[row]))
    };
    (0..entries.len()).map(cells).fold(0, u128::saturating_add)
}

/// The sum over some rows, so many of them at a time.
fn sum(rows: Range<usize>, each: usize, some: &dyn Fn(Range<usize>) -> RegionsChecksum) -> RegionsChecksum {
    rows.clone().step_by(each).map(|first| some(first..rows.end.min(first + each))).sum()
}
