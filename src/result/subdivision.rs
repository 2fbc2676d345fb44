//! What a run leaves behind: counts, terminal regions, leaf bricks, and the dense array if it was kept.
//!
//! The terminal regions (uniform ones and leaves) tile the domain. They are the compact form: a domain that is too
//! large to be dense is still a list of regions, a label for each uniform one and a brick of labels for each leaf.
//! [`Subdivision::materialise`] turns the compact form into the dense one.

use crate::cell::{CellType, Words};
use crate::dimension::here;
use crate::geometry::Region;
use crate::memory::reserve;
use crate::parallel;
use crate::plan::Plan;
use crate::result::array::DenseArray;
use crate::result::cells::Cells;
use crate::result::checksum::{RegionsChecksum, append_le};
use crate::result::counts::{LevelCounts, LevelStats, RunCounts};
use crate::result::limit::{MemoryError, Stored};
use crate::result::terminal::{Content, Terminal};

/// Regions that a thread looks at.
const TOGETHER: usize = 1 << 14;

/// Why there is no dense array.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MaterialiseError {
    /// More memory than is allowed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Some cells were not kept.
    #[error("keep counts: no cells were kept")]
    NotKept,
    /// Leaves are not with their regions.
    #[error("keep dense or a window: cells of leaves were not kept with their regions")]
    NoBricks,
}

/// The result of a run, or of a part of one.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(2, 2, 8)).build()?;
/// // 1 in the left 40 columns: the regions in the right half are mixed, and are divided.
/// let left = CellField::new(1, |[x, _]| u32::from(x < 40));
/// let found = Run::new(&plan, &left).how(How::default().keep(Keep::Regions)).start()?;
/// let counts: Vec<[u64; 2]> = found.levels().iter().map(|level| [level.counts.filled, level.counts.subdivided]).collect();
/// assert_eq!(counts[0], [2, 2]);
/// // The terminal regions tile the domain.
/// assert_eq!(found.terminals().iter().map(|terminal| found.region(terminal).volume()).sum::<u64>(), 64 * 64);
/// // A dense array is made of them when it is needed.
/// let array = found.materialise(None)?;
/// assert_eq!((array.label([39, 7]), array.label([40, 7])), (1, 0));
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Subdivision<const K: usize> {
    pub(crate) plan: Plan<K>,
    /// What a dense array covers.
    pub(crate) window: Region<K>,
    /// Cells of the roots.
    pub(crate) cells: u128,
    pub(crate) counts: RunCounts<K>,
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) bricks: Cells,
    pub(crate) array: Option<DenseArray<K>>,
}

impl<const K: usize> Subdivision<K> {
    /// A run over `cells` cells whose regions and cells are still to come.
    pub(crate) fn new(plan: Plan<K>, window: Region<K>, cells: u128, counts: RunCounts<K>, kind: CellType) -> Self {
        Self { plan, window, cells, counts, terminals: Vec::new(), bricks: Cells::empty(kind), array: None }
    }

    /// The plan that was carried out.
    pub fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// The box that a dense array covers: the domain, unless the part had a window.
    pub fn window(&self) -> Region<K> {
        self.window
    }

    /// The number of cells below the roots: all of the domain, unless the part had roots.
    pub fn cells(&self) -> u128 {
        self.cells
    }

    /// What the run counted.
    pub fn counts(&self) -> &RunCounts<K> {
        &self.counts
    }

    /// The levels that were reached, 0 first.
    pub fn levels(&self) -> &[LevelStats<K>] {
        &self.counts.levels
    }

    /// The counts of all levels, added up.
    pub fn totals(&self) -> LevelCounts {
        self.counts.totals()
    }

    /// The terminal regions by level and code. They tile the domain, or the roots of a part. There are none if the run
    /// kept counts only, or was exhaustive.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The cells of a terminal region.
    pub fn region(&self, terminal: &Terminal) -> Region<K> {
        self.plan.region(terminal.level(), terminal.code)
    }

    /// The cells of the leaves, in the order of the regions, if the run kept regions.
    pub fn bricks(&self) -> &Cells {
        &self.bricks
    }

    /// The dense array, if it was kept.
    pub fn array(&self) -> Option<&DenseArray<K>> {
        self.array.as_ref()
    }

    /// Takes the dense array out.
    pub fn into_array(self) -> Option<DenseArray<K>> {
        self.array
    }

    /// The bytes of the terminal regions and the bricks.
    pub fn compact_bytes(&self) -> u64 {
        self.terminals.len() as u64 * Terminal::BYTES + self.bricks.len() as u64 * self.bricks.kind().bytes()
    }

    /// The checksum of the terminal regions, whatever their order. None if the run did not keep them, or did not keep
    /// all cells of a leaf, as with a window that leaves some out.
    pub fn regions_checksum(&self) -> Option<RegionsChecksum> {
        here!(fn(&Subdivision<K>) -> Option<RegionsChecksum> = Subdivision::regions_checksum_here)(self)
    }

    fn regions_checksum_here(&self) -> Option<RegionsChecksum> {
        let here = |terminal: &Terminal| match (terminal.content(), &self.array) {
            (Content::Leaf { brick: None }, Some(array)) => array.window().contains(&self.region(terminal)),
            (Content::Leaf { brick: None }, None) => false,
            _ => true,
        };
        let LevelCounts { filled, leaves, .. } = self.totals();
        let some = |i| self.terminals[parallel::piece(self.terminals.len(), TOGETHER, i)].iter().all(here);
        let all_here = || !parallel::map(self.terminals.len().div_ceil(TOGETHER), &some).contains(&false);
        if self.terminals.len() as u64 != filled + leaves || !all_here() {
            return None;
        }
        Some(RegionsChecksum::of(&self.plan, &self.terminals, &|terminal, brick, bytes| {
            let region = self.region(terminal);
            match (brick, &self.array) {
                (Some(start), _) => append_le(&self.bricks, start as usize..(start + region.volume()) as usize, bytes),
                (None, Some(array)) => array.append_le(&region, bytes),
                (None, None) => unreachable!("just looked for"),
            }
        }))
    }

    /// Makes the dense array of terminal regions and bricks, over the window. If the run kept the array, this is a copy
    /// of it. Cells outside the roots of a part are 0.
    ///
    /// # Errors
    /// [`MaterialiseError`] if it would exceed `limit` bytes beside the regions, or the run kept counts only.
    pub fn materialise(&self, limit: Option<u64>) -> Result<DenseArray<K>, MaterialiseError> {
        here!(fn(&Subdivision<K>, Option<u64>) -> Result<DenseArray<K>, MaterialiseError> = Subdivision::<K>::materialise_here)(
            self, limit,
        )
    }

    fn materialise_here(&self, limit: Option<u64>) -> Result<DenseArray<K>, MaterialiseError> {
        if let Some(array) = &self.array {
            return Ok(array.copy()?);
        }
        let held = |terminal: &&Terminal| terminal.content() != Content::Leaf { brick: None };
        let held = self.terminals.iter().filter(held).map(|terminal| u128::from(self.region(terminal).volume()));
        if held.sum::<u128>() != self.cells {
            return Err(MaterialiseError::NotKept);
        }
        let kind = self.bricks.kind();
        let need = self.window.cells_wide().saturating_mul(kind.bytes().into());
        let need = need.saturating_add(self.compact_bytes().into());
        let limit = limit.unwrap_or(isize::MAX as u64);
        if need > u128::from(limit) {
            return Err(MemoryError { what: Stored::Materialised, need, limit: Some(limit) }.into());
        }
        let mut array = DenseArray::zeroed(Stored::Materialised, self.window, kind)?;
        let mut words = Vec::new();
        for terminal in &self.terminals {
            let region = self.region(terminal);
            match terminal.content() {
                Content::Uniform(word) => array.fill(&region, word),
                Content::Leaf { brick } => {
                    let start = brick.expect("all leaves were seen to have one");
                    words.clear();
                    let room = reserve(&mut words, region.volume() as usize);
                    room.map_err(MemoryError::refused(Stored::Materialised))?;
                    words.extend((start..start + region.volume()).map(|i| self.bricks.word(i as usize)));
                    array.write(&region, Words::Wide(&words));
                }
            }
        }
        Ok(array)
    }
}
