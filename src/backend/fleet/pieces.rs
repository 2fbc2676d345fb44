//! Where a plan is cut for several devices.

use std::ops::Range;

use crate::backend::how::{How, StrategyKind};
use crate::backend::part::{Part, Roots};
use crate::geometry::Region;
use crate::plan::Plan;
use crate::result::{DenseArray, Keep};

/// Pieces per device: so many that the last ones end at nearly the same time. With more of them a run takes longer.
pub const PIECES: u64 = 32;

/// Regions of level 0 that a piece should have: with fewer, a GPU has less to do at once than it has room for (docs/results/devices.md).
pub const ROOTS_OF_A_PIECE: u64 = 1024;

/// A piece of the work: the regions it starts from, or all cells of the window where there are no regions.
pub(super) struct PieceOfWork<const K: usize> {
    codes: Option<Range<u64>>,
    window: Option<Region<K>>,
}

impl<const K: usize> PieceOfWork<K> {
    /// At most so many pieces of nearly as many regions of level 0 each, or of nearly as many layers.
    pub(super) fn of(plan: &Plan<K>, how: &How, most: u64) -> Vec<Self> {
        let domain = plan.domain().region();
        if how.tuning.strategy == StrategyKind::Exhaustive {
            // Across the longest axis, of several the last one.
            let axis = (0..K).max_by_key(|&j| domain.extent[j]).expect("there is an axis");
            let layers = u64::from(domain.extent[axis]);
            let count = layers.min(most);
            let layer = |i: u64| (i * layers / count) as u32;
            let slab = |i| {
                let mut window = domain;
                (window.corner[axis], window.extent[axis]) = (layer(i), layer(i + 1) - layer(i));
                Self { codes: None, window: Some(window) }
            };
            return (0..count).map(slab).collect();
        }
        let regions = u64::try_from(plan.levels()[0].regions()).unwrap_or(u64::MAX);
        let count = regions.min(most);
        let code = |i: u64| (u128::from(i) * u128::from(regions) / u128::from(count)) as u64;
        let piece = |i| {
            let codes = code(i)..code(i + 1);
            let bounds = || codes.clone().map(|code| plan.region(0, code)).reduce(|one, two| one.hull(&two));
            let window = if how.kept.keep == Keep::Dense { bounds() } else { None };
            Self { codes: Some(codes), window }
        };
        (0..count).map(piece).collect()
    }

    /// The part of the plan that it is.
    pub(super) fn part(&self) -> Part<'_, K> {
        let roots = match &self.codes {
            Some(range) => Roots::Codes { level: 0, range: range.clone() },
            None => Roots::All,
        };
        Part { roots, window: self.window }
    }

    /// Copies its cells to their places.
    pub(super) fn show(&self, plan: &Plan<K>, array: &DenseArray<K>, all: &mut DenseArray<K>) {
        let regions: Vec<Region<K>> = match &self.codes {
            Some(codes) => codes.clone().map(|code| plan.region(0, code)).collect(),
            None => vec![array.window()],
        };
        regions.iter().for_each(|region| all.show(array, region));
    }
}
