//! What a run leaves behind: counts, terminal regions, leaf bricks, and the dense array if it was kept.
//!
//! The terminal regions (uniform ones and leaves) tile the domain. They are the compact form: a domain that is too
//! large to be dense is still a list of regions, a label for each uniform one and a brick of labels for each leaf.
//! [`Subdivision::materialise`] turns the compact form into the dense one.

use crate::cell::{CellType, Words};
use crate::geometry::Region;
use crate::plan::Plan;
use crate::result::array::DenseArray;
use crate::result::cells::Cells;
use crate::result::checksum::{RegionsChecksum, append_le};
use crate::result::counts::{LevelCounts, LevelStats, RunCounts};
use crate::result::limit::{MemoryError, Stored, dense_fits};
use crate::result::terminal::{Content, Terminal};

/// Why there is no dense array.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MaterialiseError {
    /// More memory than is allowed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// Some cells were not kept.
    #[error("keep counts: no cells were kept")]
    NotKept,
}

/// The result of a run, or of a part of one.
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
        Self { plan, window, cells, counts, terminals: Vec::new(), bricks: Cells::zeroed(kind, 0), array: None }
    }

    /// Makes room for regions and cells of leaves.
    pub(crate) fn reserve(&mut self, terminals: usize, bricks: usize) {
        self.terminals.reserve_exact(terminals);
        self.bricks.reserve(bricks);
    }

    /// The plan that was carried out.
    pub fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// What a dense array covers: the domain, unless a window was chosen.
    pub fn window(&self) -> Region<K> {
        self.window
    }

    /// Cells of the roots: of the domain, unless roots were chosen.
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

    /// All levels together.
    pub fn totals(&self) -> LevelCounts {
        self.counts.totals()
    }

    /// The terminal regions by level and code; they tile the domain, or the roots of a part. Empty if only counts are kept,
    /// and for Exhaustive.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The cells of a terminal region.
    pub fn region(&self, terminal: &Terminal) -> Region<K> {
        self.plan.region(terminal.level(), terminal.code)
    }

    /// The labels of the leaves' cells, one brick after the other in the order of the regions (kept with them).
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

    /// Bytes of the compact form.
    pub fn compact_bytes(&self) -> u64 {
        self.terminals.len() as u64 * Terminal::BYTES + self.bricks.len() as u64 * self.bricks.kind().bytes()
    }

    /// The checksum of the terminal regions, whatever their order; None if they were not kept, or if cells of a leaf were not,
    /// as with a window that leaves some out.
    pub fn regions_checksum(&self) -> Option<RegionsChecksum> {
        let here = |terminal: &Terminal| match (terminal.content(), &self.array) {
            (Content::Leaf { brick: None }, Some(array)) => array.window().contains(&self.region(terminal)),
            (Content::Leaf { brick: None }, None) => false,
            _ => true,
        };
        let LevelCounts { filled, leaves, .. } = self.totals();
        if self.terminals.len() as u64 != filled + leaves || !self.terminals.iter().all(here) {
            return None;
        }
        Some(RegionsChecksum::of(&self.plan, &self.terminals, |terminal, brick, bytes| {
            let region = self.region(terminal);
            match (brick, &self.array) {
                (Some(start), _) => append_le(&self.bricks, start as usize..(start + region.volume()) as usize, bytes),
                (None, Some(array)) => array.append_le(&region, bytes),
                (None, None) => unreachable!("just looked for"),
            }
        }))
    }

    /// The dense array from terminal regions and bricks, over the window; a copy of the array if that was kept. Cells outside
    /// the roots of a part are 0.
    ///
    /// # Errors
    /// [`MaterialiseError`] if it would exceed `limit` bytes, or the run kept counts only.
    pub fn materialise(&self, limit: Option<u64>) -> Result<DenseArray<K>, MaterialiseError> {
        if let Some(array) = &self.array {
            return Ok(array.clone());
        }
        dense_fits(Stored::Materialised, self.window.cells_wide(), self.bricks.kind(), limit)?;
        Ok(self.layers(u64::MAX)?.next().expect("a window has a layer"))
    }

    /// The dense array from terminal regions and bricks piece by piece, for what fits no memory: along the last axis, each of
    /// `most` bytes or one layer, in storage order.
    ///
    /// # Errors
    /// [`MaterialiseError::NotKept`] if cells or regions were not kept.
    pub fn layers(&self, most: u64) -> Result<Layers<'_, K>, MaterialiseError> {
        let kept = |terminal: &&Terminal| !matches!(terminal.content(), Content::Leaf { brick: None });
        let volume = |terminal: &Terminal| u128::from(self.region(terminal).volume());
        if self.terminals.iter().filter(kept).map(volume).sum::<u128>() != self.cells {
            return Err(MaterialiseError::NotKept);
        }
        let size = self.window.extent;
        let layer = size[..K - 1].iter().fold(self.bricks.kind().bytes(), |bytes, &n| bytes.saturating_mul(n.into()));
        let thickness = (most / layer).clamp(1, size[K - 1].into()) as u32;
        let mut waiting: Vec<&Terminal> = self.terminals.iter().collect();
        waiting.sort_by_key(|terminal| std::cmp::Reverse(self.region(terminal).corner[K - 1]));
        Ok(Layers { of: self, waiting, open: Vec::new(), at: self.window.corner[K - 1], thickness })
    }
}

/// The dense array in pieces, made one at a time of the terminal regions that reach into it.
pub struct Layers<'a, const K: usize> {
    of: &'a Subdivision<K>,
    /// Regions above the last piece, the lowest at the end.
    waiting: Vec<&'a Terminal>,
    /// Regions that reached into the last piece and go on above it.
    open: Vec<&'a Terminal>,
    /// Where the next piece begins.
    at: u32,
    thickness: u32,
}

impl<const K: usize> Iterator for Layers<'_, K> {
    type Item = DenseArray<K>;

    fn next(&mut self) -> Option<DenseArray<K>> {
        let (subdivision, last, low) = (self.of, K - 1, self.at);
        let mut piece = subdivision.window;
        let high = low.saturating_add(self.thickness).min(piece.corner[last] + piece.extent[last]);
        if low == high {
            return None;
        }
        while let Some(terminal) = self.waiting.pop_if(|terminal| subdivision.region(terminal).corner[last] < high) {
            self.open.push(terminal);
        }
        (piece.corner[last], piece.extent[last]) = (low, high - low);
        let mut array = DenseArray::zeroed(piece, subdivision.bricks.kind());
        for terminal in &self.open {
            let region = subdivision.region(terminal);
            let (from, to) = (region.corner[last].max(low), (region.corner[last] + region.extent[last]).min(high));
            let mut part = region;
            if from >= to {
                continue; // below the window
            }
            (part.corner[last], part.extent[last]) = (from, to - from);
            match terminal.content() {
                Content::Uniform(word) => array.fill(&part, word),
                Content::Leaf { brick } => {
                    // The last axis is the slowest: what a brick holds of the part is in one piece.
                    let below =
                        region.volume() / u64::from(region.extent[last]) * u64::from(from - region.corner[last]);
                    let start = brick.expect("only kept leaves are taken") + below;
                    let words: Vec<u64> =
                        (start..start + part.volume()).map(|i| subdivision.bricks.word(i as usize)).collect();
                    array.write(&part, Words::Wide(&words));
                }
            }
        }
        self.open.retain(|terminal| {
            let region = subdivision.region(terminal);
            region.corner[last] + region.extent[last] > high
        });
        self.at = high;
        Some(array)
    }
}
