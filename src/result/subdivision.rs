//! What a run leaves behind: counts, terminal regions, leaf bricks, and the dense array if it was kept.
//!
//! The terminal regions (uniform ones and leaves) tile the domain. They are the compact form: a domain that is too
//! large to be dense is still a list of regions, a label for each uniform one and a brick of labels for each leaf.
//! [`Subdivision::materialise`] turns the compact form into the dense one.

use crate::geometry::Region;
use crate::plan::Plan;
use crate::result::array::DenseArray;
use crate::result::cells::Cells;
use crate::result::counts::{LevelCounts, LevelStats, RunCounts};
use crate::result::limit::{MemoryError, dense_fits};
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

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Subdivision<const K: usize> {
    pub(crate) plan: Plan<K>,
    pub(crate) counts: RunCounts<K>,
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) bricks: Cells,
    pub(crate) array: Option<DenseArray<K>>,
}

impl<const K: usize> Subdivision<K> {
    /// The plan that was carried out.
    pub fn plan(&self) -> &Plan<K> {
        &self.plan
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

    /// The terminal regions by level and code; they tile the domain. Empty if only counts are kept, and for Exhaustive.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The cells of a terminal region.
    pub fn region(&self, terminal: &Terminal) -> Region<K> {
        self.plan.region(terminal.level(), terminal.code)
    }

    /// The labels of the leaves' cells, one brick after the other (kept with the regions).
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

    /// The dense array from terminal regions and bricks; a copy of the array if that was kept.
    ///
    /// # Errors
    /// [`MaterialiseError`] if it would exceed `limit` bytes, or the run kept counts only.
    #[allow(unsafe_code)]
    pub fn materialise(&self, limit: Option<u64>) -> Result<DenseArray<K>, MaterialiseError> {
        if let Some(array) = &self.array {
            return Ok(array.clone());
        }
        let domain = self.plan.domain();
        dense_fits(domain.cells(), self.bricks.kind(), limit)?;
        let mut array = DenseArray::zeroed(domain, self.bricks.kind());
        let canvas = array.canvas();
        let mut seen = 0u128;
        let mut labels = Vec::new();
        for terminal in &self.terminals {
            let region = self.region(terminal);
            seen += u128::from(region.volume());
            match terminal.content() {
                // SAFETY: one thread, and terminal regions lie in the domain.
                Content::Uniform(label) => unsafe { canvas.fill(&region, label) },
                Content::Leaf { brick: Some(start) } => {
                    labels.clear();
                    labels.extend((start..start + region.volume()).map(|i| self.bricks.label(i as usize)));
                    // SAFETY: as above.
                    unsafe { canvas.write(&region, &labels) }
                }
                Content::Leaf { brick: None } => seen -= u128::from(region.volume()),
            }
        }
        if seen != domain.cells() { Err(MaterialiseError::NotKept) } else { Ok(array) }
    }
}
