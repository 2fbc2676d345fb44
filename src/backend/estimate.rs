//! What a run will take, before it takes it.

use crate::backend::expected::Expected;
use crate::backend::how::{How, Pass, StrategyKind};
use crate::backend::part::{Part, PartError, Start};
use crate::backend::portions::LISTED;
use crate::backend::table::table_bytes;
use crate::dimension::here;
use crate::field::Field;
use crate::plan::Plan;
use crate::result::{Keep, MemoryError, Stored, Terminal};

/// The bytes that a run should need.
///
/// The dense array is exact. Tables and terminal regions follow from [`Plan::expected_regions`], with the box dimension
/// that the field expects of its boundary, and from [`Field::most_mixed`]. The run checks them again, exactly, as they grow.
///
/// ```
/// use orthant::backend::Estimate;
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([1000, 1000]).build()?;
/// let field = CellField::new(1, |[x, _]| u32::from(x < 500));
/// let estimate = Estimate::new(&plan, &field, &How::default());
/// assert_eq!(estimate.dense, 2 * 1_000_000); // cells are u16
/// assert!(estimate.check(Some(1_000_000)).is_err());
/// # Ok::<(), orthant::PlanError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Estimate {
    /// The dense array.
    pub dense: u128,
    /// The two tables of the widest level and its outcomes, and lists of regions that are settled later.
    pub olt: u128,
    /// Terminal regions and bricks of leaves.
    pub compact: u128,
}

impl Estimate {
    /// The estimate for a run of the whole plan.
    pub fn new<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, how: &How) -> Self {
        Self::from(plan, field, how, &Start::whole(plan))
    }

    /// The estimate for a run of a part.
    ///
    /// # Errors
    /// [`PartError`] if the part does not fit the plan.
    pub fn of_part<const K: usize>(
        plan: &Plan<K>,
        field: &dyn Field<K>,
        how: &How,
        part: &Part<'_, K>,
    ) -> Result<Self, PartError> {
        Ok(Self::from(plan, field, how, &Start::new(plan, field.carrier().is_some(), part)?))
    }

    /// The estimate for a run from `start`.
    pub(crate) fn from<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, how: &How, start: &Start<'_, K>) -> Self {
        here!(fn(&Plan<K>, &dyn Field<K>, &How, &Start<'_, K>) -> Estimate = Estimate::from_here)(
            plan, field, how, start,
        )
    }

    fn from_here<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, how: &How, start: &Start<'_, K>) -> Self {
        let cell = field.labels().cell(how.kept.cell).bytes();
        let dense =
            if how.kept.keep == Keep::Dense { start.window.cells_wide().saturating_mul(u128::from(cell)) } else { 0 };
        if how.tuning.strategy == StrategyKind::Exhaustive {
            return Self { dense, olt: 0, compact: 0 };
        }
        let expected = Expected::of(plan, field, start);
        let (children, payloads) = (plan.scheme().children() as f64, field.carrier().is_some());
        let table = |level: usize| {
            let families = (expected.regions[level] / children).ceil() as u128;
            table_bytes(plan, start.level + level as u32 - 1, payloads, families)
        };
        let leaf = plan.domain().cells() as f64 / plan.levels()[plan.levels().len() - 1].regions() as f64;
        let bricks = (expected.leaves * leaf) as u128 * u128::from(cell);
        Self { dense, olt: olt(&expected.regions, &table, how), compact: compact(&expected.regions, bricks, how) }
    }

    /// Everything together, in bytes.
    pub fn total(&self) -> u128 {
        self.dense.saturating_add(self.olt).saturating_add(self.compact)
    }

    /// Fails if the estimate exceeds `limit` bytes.
    ///
    /// # Errors
    /// [`MemoryError`] with the figure.
    pub fn check(&self, limit: Option<u64>) -> Result<(), MemoryError> {
        // Without a limit, what cannot be addressed still cannot be allocated.
        let limit = limit.unwrap_or(isize::MAX as u64);
        if self.total() <= u128::from(limit) {
            return Ok(());
        }
        let what = if self.dense > u128::from(limit) {
            Stored::Dense
        } else if self.dense > 0 {
            Stored::DenseAndTables
        } else if self.compact > 0 {
            Stored::TablesAndTerminals
        } else {
            Stored::Tables
        };
        Err(MemoryError { what, need: self.total(), limit: Some(limit) })
    }
}

/// The bytes of tables and of lists of regions. `expected` has the number of regions of each level. `table` says how many bytes the table
/// of a level after the first takes.
fn olt(expected: &[f64], table: &dyn Fn(usize) -> u128, how: &How) -> u128 {
    let listed = match (how.tuning.pass_on_cpu(), how.tuning.strategy) {
        _ if how.kept.keep == Keep::Counts => 0.0,
        (Pass::InPlace, _) => 0.0,
        (Pass::Level, StrategyKind::Ask) => expected.iter().fold(0.0, |most: f64, &regions| most.max(regions)),
        (Pass::Level | Pass::Deferred, _) => expected.iter().sum(),
    };
    let lists = listed as u128 * u128::from(LISTED);
    if how.tuning.strategy != StrategyKind::Ask {
        return lists;
    }
    let held = |level: usize| match expected.get(level) {
        Some(&regions) if level > 0 => table(level) + regions as u128,
        Some(&regions) => regions as u128,
        None => 0,
    };
    lists + (0..expected.len()).map(|level| held(level) + held(level + 1)).max().unwrap_or(0)
}

/// The bytes of terminal regions and of bricks.
fn compact(expected: &[f64], bricks: u128, how: &How) -> u128 {
    // A family of R regions has at least one parent: terminal regions are fewer than all regions.
    let terminals = expected.iter().sum::<f64>() as u128 * u128::from(Terminal::BYTES);
    match how.kept.keep {
        Keep::Counts => 0,
        Keep::Dense => terminals,
        Keep::Regions => terminals + bricks,
    }
}
