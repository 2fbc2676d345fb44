//! What a run leaves behind: counts per level, terminal regions, leaf bricks, and the dense field if it was kept.
//!
//! The terminal regions (uniform ones and leaves) tile the domain. They are the compact form: a domain that is too
//! large to be dense is still a list of regions, a label for each uniform one and a brick of labels for each leaf.
//! [`Subdivision::materialise`] turns the compact form into the dense one.

use std::time::Duration;

use rayon::slice::ParallelSliceMut;

use crate::error::Error;
use crate::field::{Cells, Field};
use crate::memory::dense_fits;
use crate::plan::{Level, Plan};
use crate::region::Region;

/// What one level did. `subdivided + filled + leaves = regions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LevelCounts {
    /// Regions examined.
    pub regions: u64,
    /// Mixed regions that were divided.
    pub subdivided: u64,
    /// Uniform regions.
    pub filled: u64,
    /// Mixed regions at the last level.
    pub leaves: u64,
    /// Cells visited by exploration, with repetition.
    pub explored_cells: u64,
    /// Cells of uniform regions.
    pub filled_cells: u64,
    /// Cells of leaves.
    pub leaf_cells: u64,
    /// Cells evaluated outside exploration.
    pub evaluated_cells: u64,
    /// The labels of all cells explored and evaluated, added up: the iterations spent by a dwell field.
    pub label_sum: u64,
}

impl std::ops::AddAssign for LevelCounts {
    fn add_assign(&mut self, other: Self) {
        self.regions += other.regions;
        self.subdivided += other.subdivided;
        self.filled += other.filled;
        self.leaves += other.leaves;
        self.explored_cells += other.explored_cells;
        self.filled_cells += other.filled_cells;
        self.leaf_cells += other.leaf_cells;
        self.evaluated_cells += other.evaluated_cells;
        self.label_sum += other.label_sum;
    }
}

/// One level of a finished run.
#[derive(Debug, Clone, PartialEq)]
pub struct LevelStats<const K: usize> {
    /// The lattice.
    pub level: Level<K>,
    /// What was found on it.
    pub counts: LevelCounts,
    /// Entries of the level's read table and of the write table it filled; 0 for strategies without tables.
    pub olt_entries: u64,
    /// Bytes of the two.
    pub olt_bytes: u64,
    /// What was launched for it.
    pub kernels: LevelKernels,
    /// Wall time; None where levels overlap (DP).
    pub time: Option<Duration>,
}

/// Kernels launched for one level, by kind; passes or tasks on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize)]
pub struct LevelKernels {
    /// That explore its regions, and under SBR settle them too.
    pub explore: u64,
    /// That put children into the next table.
    pub insert: u64,
    /// That fill uniform regions (MBR).
    pub fill: u64,
    /// That evaluate leaves (MBR, or apart from exploration).
    pub leaf: u64,
}

impl<const K: usize> LevelStats<K> {
    /// P_i, the measured share of regions that were mixed (subdivided or leaves).
    pub fn density(&self) -> f64 {
        (self.counts.subdivided + self.counts.leaves) as f64 / self.counts.regions as f64
    }
}

/// What fills a terminal region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// One label.
    Uniform(u32),
    /// The labels of its cells, in storage order of the region, start here in [`Subdivision::bricks`].
    Leaf {
        /// The index of the first cell; None if leaves were not kept.
        brick: Option<u64>,
    },
}

/// A region that was not divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terminal {
    /// Its code on its level.
    pub code: u64,
    level: u32,
    label: u32,
    brick: u64,
}

/// Stands for "a leaf" in `label` and for "not kept" in `brick`; no label and no brick can have this value.
const NONE: u64 = u64::MAX;

impl Terminal {
    pub(crate) const BYTES: u64 = size_of::<Self>() as u64;

    pub(crate) fn uniform(level: u32, code: u64, label: u32) -> Self {
        Self { code, level, label, brick: NONE }
    }

    pub(crate) fn leaf(level: u32, code: u64, brick: Option<u64>) -> Self {
        Self { code, level, label: u32::MAX, brick: brick.unwrap_or(NONE) }
    }

    /// Sorts by level and code.
    pub(crate) fn sort(terminals: &mut [Self]) {
        terminals.par_sort_unstable_by_key(|terminal| (terminal.level, terminal.code));
    }

    /// The same with its brick `by` cells further on.
    pub(crate) fn shifted(self, by: u64) -> Self {
        Self { brick: if self.brick == NONE { NONE } else { self.brick + by }, ..self }
    }

    /// Its level.
    pub fn level(&self) -> u32 {
        self.level
    }

    /// What fills it.
    pub fn content(&self) -> Content {
        if self.label == u32::MAX {
            Content::Leaf { brick: (self.brick != NONE).then_some(self.brick) }
        } else {
            Content::Uniform(self.label)
        }
    }
}

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Subdivision<const K: usize> {
    pub(crate) plan: Plan<K>,
    pub(crate) levels: Vec<LevelStats<K>>,
    pub(crate) terminals: Vec<Terminal>,
    pub(crate) bricks: Cells,
    pub(crate) field: Option<Field<K>>,
    pub(crate) launches: Launches,
    pub(crate) time: Duration,
    pub(crate) device_time: Option<Duration>,
}

/// Passes and tasks of a run: what kernels are on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Launches {
    /// Passes over a level, or tasks.
    pub kernels: u64,
    /// The largest number in flight at once; for dynamic parallelism on CUDA of those launched from the device.
    pub most_in_flight: u64,
    /// The largest number of grids launched from the device that had not begun (CUDA, DP).
    pub most_pending: u64,
    /// Launches that could be in flight at once: the budget that was in force (DP).
    pub credits: u64,
    /// The host's launches for what overflowed (CUDA, DP).
    pub rounds: u64,
    /// Launches that were not made for want of credit (DP).
    pub refused: u64,
    /// Launches from the device that failed (CUDA, DP); what they were for was done otherwise.
    pub failed: u64,
    /// Families that waited for another round (CUDA, DP).
    pub overflowed: u64,
    /// Launches that found no room and ran inside their parent (DP).
    pub in_place: u64,
    /// The most bytes that tables took at once.
    pub peak_olt_bytes: u64,
}

impl<const K: usize> Subdivision<K> {
    /// The plan that was carried out.
    pub fn plan(&self) -> &Plan<K> {
        &self.plan
    }

    /// The levels that were reached, 0 first.
    pub fn levels(&self) -> &[LevelStats<K>] {
        &self.levels
    }

    /// All levels together.
    pub fn totals(&self) -> LevelCounts {
        self.levels.iter().fold(LevelCounts::default(), |mut total, level| {
            total += level.counts;
            total
        })
    }

    /// The terminal regions by level and code; they tile the domain. Empty under `--keep counts` and for Exhaustive.
    pub fn terminals(&self) -> &[Terminal] {
        &self.terminals
    }

    /// The cells of a terminal region.
    pub fn region(&self, terminal: &Terminal) -> Region<K> {
        self.plan.region(terminal.level, terminal.code)
    }

    /// The labels of the leaves' cells, one brick after the other (`--keep regions`).
    pub fn bricks(&self) -> &Cells {
        &self.bricks
    }

    /// The dense field, if it was kept.
    pub fn field(&self) -> Option<&Field<K>> {
        self.field.as_ref()
    }

    /// Takes the dense field out.
    pub fn into_field(self) -> Option<Field<K>> {
        self.field
    }

    /// Passes and tasks.
    pub fn launches(&self) -> Launches {
        self.launches
    }

    /// Wall time of the run, without planning and output.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// The device's time from before the first kernel to after the last, host decisions between them included; None on
    /// the CPU.
    pub fn device_time(&self) -> Option<Duration> {
        self.device_time
    }

    /// Bytes of the compact form.
    pub fn compact_bytes(&self) -> u64 {
        self.terminals.len() as u64 * Terminal::BYTES + self.bricks.len() as u64 * self.bricks.kind().bytes()
    }

    /// The dense field from terminal regions and bricks; a copy of the field if that was kept.
    ///
    /// # Errors
    /// [`Error::Memory`] if the field would exceed `limit` bytes; [`Error::Input`] if the run kept counts only.
    #[allow(unsafe_code)]
    pub fn materialise(&self, limit: Option<u64>) -> Result<Field<K>, Error> {
        if let Some(field) = &self.field {
            return Ok(field.clone());
        }
        let domain = self.plan.domain();
        dense_fits(domain.cells(), self.bricks.kind(), limit)?;
        let mut field = Field::zeroed(domain, self.bricks.kind());
        let canvas = field.canvas();
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
        if seen != domain.cells() {
            return Err(Error::Input("--keep counts keeps no cells: run with --keep regions or dense".into()));
        }
        Ok(field)
    }
}
