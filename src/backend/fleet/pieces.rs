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
    /// At most so many pieces of fewer and fewer regions of level 0 each, or of nearly as many layers.
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
        let code = |i| ends_of_smaller_pieces(regions, count, i);
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

/// Where piece `i` of `count` begins: the first has 1.5 times as many regions as the mean, and the last half as many, so that devices
/// wait less for the one that ends last. With few regions all pieces have as many.
fn ends_of_smaller_pieces(regions: u64, count: u64, i: u64) -> u64 {
    let [wide, count, i] = [regions, count, i].map(u128::from);
    let begin = if wide < 4 * count { wide * i / count } else { wide * i * (3 * count - i) / (2 * count * count) };
    begin as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_get_smaller_and_none_is_empty() {
        for (regions, count) in [(1, 1), (7, 7), (100, 64), (256, 64), (65_536, 64), (u64::MAX, 4096)] {
            let ends: Vec<u64> = (0..=count).map(|i| ends_of_smaller_pieces(regions, count, i)).collect();
            assert_eq!((ends[0], ends[count as usize]), (0, regions));
            assert!(ends.is_sorted_by(|a, b| a < b), "{regions} in {count}");
        }
        let size = |i| ends_of_smaller_pieces(65_536, 64, i + 1) - ends_of_smaller_pieces(65_536, 64, i);
        assert_eq!((size(0), size(63)), (1528, 520));
    }
}
