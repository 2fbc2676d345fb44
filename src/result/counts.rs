//! What a run did: counts per level, launches, times.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::geometry::Level;

/// What one level did. `subdivided + filled + leaves = regions`.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 4)).rule(RuleKind::Full).build()?;
/// let spot = CellField::new(1, |cell| u32::from(cell == [40, 40]));
/// let found = run(&plan, &spot)?;
/// let totals = found.totals();
/// // 16 regions, and 4 below the mixed one, of which one is a leaf of 8 x 8 cells.
/// assert_eq!((totals.regions, totals.subdivided, totals.filled, totals.leaves), (20, 1, 18, 1));
/// assert_eq!((totals.leaf_cells, totals.filled_cells), (64, 64 * 64 - 64));
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LevelCounts {
    /// Regions examined.
    pub regions: u64,
    /// Mixed regions that were divided.
    pub subdivided: u64,
    /// Uniform regions.
    pub filled: u64,
    /// Uniform regions that were proven, so that no cell was looked at. `filled` contains them.
    pub proven: u64,
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
    /// The sum of the labels of all cells that were explored or evaluated. For a dwell field this is the number of
    /// iterations.
    pub label_sum: u64,
}

impl std::ops::AddAssign for LevelCounts {
    fn add_assign(&mut self, other: Self) {
        self.regions += other.regions;
        self.subdivided += other.subdivided;
        self.filled += other.filled;
        self.proven += other.proven;
        self.leaves += other.leaves;
        self.explored_cells += other.explored_cells;
        self.filled_cells += other.filled_cells;
        self.leaf_cells += other.leaf_cells;
        self.evaluated_cells += other.evaluated_cells;
        self.label_sum += other.label_sum;
    }
}

/// One level of a finished run.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 4)).rule(RuleKind::Full).build()?;
/// // One cell is 1: one of 16 regions is mixed, then one of its 4 children.
/// let spot = CellField::new(1, |cell| u32::from(cell == [40, 40]));
/// let found = run(&plan, &spot)?;
/// let shares: Vec<f64> = found.levels().iter().map(|level| level.density()).collect();
/// assert_eq!(shares, [1.0 / 16.0, 1.0 / 4.0]);
/// # Ok::<(), orthant::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LevelStats<const K: usize> {
    /// The lattice.
    pub level: Level<K>,
    /// What was found on it.
    pub counts: LevelCounts,
    /// Regions of the table that the level read, and of the one that it filled, on the CPU; on CUDA their families. 0 if the strategy has
    /// no tables.
    pub olt_entries: u64,
    /// Bytes of as many codes.
    pub olt_bytes: u64,
    /// Scalars of the tables that the level read and filled: a code for each family of regions, on every backend.
    pub table_entries: u64,
    /// The bytes that they took, with what fields carry.
    pub table_bytes: u64,
    /// What was launched for it.
    pub kernels: LevelKernels,
    /// Wall time. None if levels overlap, as under DP.
    pub time: Option<Duration>,
}

/// Kernels launched for one level, by kind; passes or tasks on the CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LevelKernels {
    /// That explore its regions, and settle them too where that is done in place.
    pub explore: u64,
    /// That put children into the next table.
    pub insert: u64,
    /// That fill uniform regions.
    pub fill: u64,
    /// That evaluate leaves, or settle whatever a list has (on the CPU; on CUDA what is settled at the end, with the sorting
    /// before it, which belongs to the deepest level).
    pub leaf: u64,
}

impl<const K: usize> LevelStats<K> {
    /// Of a level that was done without tables, together with others.
    pub(crate) fn without_tables(level: Level<K>, counts: LevelCounts, kernels: LevelKernels) -> Self {
        Self { level, counts, olt_entries: 0, olt_bytes: 0, table_entries: 0, table_bytes: 0, kernels, time: None }
    }

    /// P_i, the measured share of regions that were mixed (subdivided or leaves).
    pub fn density(&self) -> f64 {
        (self.counts.subdivided + self.counts.leaves) as f64 / self.counts.regions as f64
    }
}

/// Passes and tasks of a run: what kernels are on a GPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
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
    /// The most bytes that tables took at once, as version 0.1 counted them: on the CPU a code for every region, on CUDA one for every
    /// family.
    pub peak_olt_bytes: u64,
    /// The most scalars that the tables of two neighbouring levels held at once, on every backend: a code for each family of regions.
    pub table_entries: u64,
    /// The bytes that they took.
    pub table_bytes: u64,
    /// Bytes of the maps that streams keep beside: what became of every region of a level's lattice (CUDA).
    pub map_bytes: u64,
    /// Short tapes that the proofs of a long formula left on a GPU (CUDA).
    pub tapes: u64,
    /// Their bytes.
    pub tape_bytes: u64,
    /// Regions that found no room for a tape of their own, and took the one above (CUDA).
    pub tapes_left_out: u64,
}

/// The time of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Times {
    /// What the caller waited for, without planning and output.
    pub wall: Duration,
    /// The device's time from before the first kernel to after the last, host decisions between them included; None on the
    /// CPU.
    pub device: Option<Duration>,
}

/// Everything that a run counted.
#[derive(Debug, Clone, PartialEq)]
pub struct RunCounts<const K: usize> {
    /// The levels that were reached, 0 first.
    pub levels: Vec<LevelStats<K>>,
    /// Passes and tasks, or kernels.
    pub launches: Launches,
    /// What it took.
    pub times: Times,
}

impl<const K: usize> LevelStats<K> {
    /// With what another part of the same plan did on the level, on another device or after this one.
    fn join(&mut self, other: &Self) {
        self.counts += other.counts;
        self.olt_entries = self.olt_entries.max(other.olt_entries);
        self.olt_bytes = self.olt_bytes.max(other.olt_bytes);
        self.table_entries = self.table_entries.max(other.table_entries);
        self.table_bytes = self.table_bytes.max(other.table_bytes);
        let LevelKernels { explore, insert, fill, leaf } = other.kernels;
        self.kernels.explore += explore;
        self.kernels.insert += insert;
        self.kernels.fill += fill;
        self.kernels.leaf += leaf;
        self.time = None;
    }
}

impl Launches {
    /// With those of another part of the same plan: numbers add up, and the most of one is the most of all.
    fn join(self, other: Self) -> Self {
        Self {
            kernels: self.kernels + other.kernels,
            most_in_flight: self.most_in_flight.max(other.most_in_flight),
            most_pending: self.most_pending.max(other.most_pending),
            credits: self.credits.max(other.credits),
            rounds: self.rounds + other.rounds,
            refused: self.refused + other.refused,
            failed: self.failed + other.failed,
            overflowed: self.overflowed + other.overflowed,
            in_place: self.in_place + other.in_place,
            peak_olt_bytes: self.peak_olt_bytes.max(other.peak_olt_bytes),
            table_entries: self.table_entries.max(other.table_entries),
            table_bytes: self.table_bytes.max(other.table_bytes),
            map_bytes: self.map_bytes.max(other.map_bytes),
            tapes: self.tapes + other.tapes,
            tape_bytes: self.tape_bytes + other.tape_bytes,
            tapes_left_out: self.tapes_left_out + other.tapes_left_out,
        }
    }

    /// Tables of two neighbouring levels that were held at once.
    pub(crate) fn tables(&mut self, entries: u64, bytes: u64) {
        self.table_entries = self.table_entries.max(entries);
        self.table_bytes = self.table_bytes.max(bytes);
    }
}

impl<const K: usize> RunCounts<K> {
    /// What a part of a plan counted, and another part of the same plan that begins on the same level. The times are those of the first.
    pub(crate) fn join(mut self, other: &Self) -> Self {
        for stats in &other.levels {
            match self.levels.iter_mut().find(|known| known.level.index == stats.level.index) {
                Some(known) => known.join(stats),
                None => self.levels.push(LevelStats { time: None, ..stats.clone() }),
            }
        }
        self.launches = self.launches.join(other.launches);
        self
    }

    /// All levels together.
    pub fn totals(&self) -> LevelCounts {
        self.levels.iter().fold(LevelCounts::default(), |mut total, level| {
            total += level.counts;
            total
        })
    }
    /// Fails with the cells that were seen if they are not the `total` cells of the domain.
    pub(crate) fn complete(&self, total: u128) -> Result<(), u128> {
        let totals = self.totals();
        let seen = u128::from(totals.filled_cells) + u128::from(totals.leaf_cells);
        // Counts wrap in 64 bits where a domain has more cells than that; the comparison then is modulo 2^64.
        if seen as u64 == total as u64 { Ok(()) } else { Err(seen) }
    }
}
