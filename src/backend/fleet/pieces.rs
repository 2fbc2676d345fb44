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
    /// At most so many pieces of fewer and fewer regions of level 0 each, or of nearly as many layers. Pieces whose box has more cells than
    /// there is `room` for are cut further.
    pub(super) fn of(plan: &Plan<K>, how: &How, most: u64, room: u128) -> Vec<Self> {
        let (domain, mut pieces) = (plan.domain().region(), Vec::new());
        if how.tuning.strategy == StrategyKind::Exhaustive {
            let (axis, layers) = layers(&domain.extent, most);
            for layer in layers {
                let mut window = domain;
                (window.corner[axis], window.extent[axis]) = (layer.start, layer.end - layer.start);
                pieces.push(Self { codes: None, window: Some(window) });
            }
            return pieces;
        }
        let mut runs = smaller_and_smaller(u64::try_from(plan.levels()[0].regions()).unwrap_or(u64::MAX), most);
        if room < domain.cells_wide() {
            runs = within(plan, &runs, room);
        }
        for codes in runs {
            let window = if how.kept.keep == Keep::Dense { Some(bounds(plan, &codes)) } else { None };
            pieces.push(Self { codes: Some(codes), window });
        }
        pieces
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
        match &self.codes {
            Some(codes) => {
                for code in codes.clone() {
                    all.show(array, &plan.region(0, code));
                }
            }
            None => all.show(array, &array.window()),
        }
    }
}

/// Layers of a domain across its longest axis, of several the last one: at most so many, nearly as thick as each other.
fn layers(size: &[u32], most: u64) -> (usize, Vec<Range<u32>>) {
    let axis = (0..size.len()).max_by_key(|&j| size[j]).expect("there is an axis");
    let cells = u64::from(size[axis]);
    let count = cells.min(most);
    let layer = |i: u64| (i * cells / count) as u32;
    (axis, (0..count).map(|i| layer(i)..layer(i + 1)).collect())
}

/// The box of a run of codes of level 0.
fn bounds<const K: usize>(plan: &Plan<K>, codes: &Range<u64>) -> Region<K> {
    let mut bounds = plan.region(0, codes.start);
    for code in codes.start + 1..codes.end {
        bounds = bounds.hull(&plan.region(0, code));
    }
    bounds
}

/// Cuts runs of codes of level 0 into runs whose boxes have at most so many cells, or one code. Where a run crosses the border of a large
/// block of the curve, its box has many times as many cells as its regions.
fn within<const K: usize>(plan: &Plan<K>, runs: &[Range<u64>], room: u128) -> Vec<Range<u64>> {
    let mut cut = Vec::new();
    for run in runs {
        let (mut begin, mut bounds) = (run.start, plan.region(0, run.start));
        for code in run.start + 1..run.end {
            let region = plan.region(0, code);
            let wider = bounds.hull(&region);
            bounds = if wider.cells_wide() <= room {
                wider
            } else {
                cut.push(begin..code);
                begin = code;
                region
            };
        }
        cut.push(begin..run.end);
    }
    cut
}

/// At most so many runs of codes, fewer and fewer of them.
fn smaller_and_smaller(regions: u64, most: u64) -> Vec<Range<u64>> {
    let count = regions.min(most);
    let code = |i| ends_of_smaller_pieces(regions, count, i);
    (0..count).map(|i| code(i)..code(i + 1)).collect()
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
    use crate::curve::CurveKind;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::rule::RuleKind;

    /// Runs of codes cover all regions in their order, and no box is too large unless it is one region's.
    #[test]
    fn boxes_of_pieces_have_room() {
        for curve in [CurveKind::Canonical, CurveKind::Morton, CurveKind::Hilbert] {
            let domain = Domain::new([64, 64, 48], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
            let plan = Plan::new(domain, Scheme::uniform(16, 2, 2), curve, RuleKind::Full).unwrap();
            let (regions, cells) = (4096, 64 * 64 * 48);
            for room in [1, 48, 1000, 12_288, 50_000, cells] {
                let pieces = PieceOfWork::of(&plan, &How::default().keep(Keep::Dense), 32, room);
                let mut next = 0;
                for piece in &pieces {
                    let (codes, window) = (piece.codes.clone().unwrap(), piece.window.unwrap());
                    assert_eq!(codes.start, next, "{curve} {room}");
                    assert!(window.cells_wide() <= room || codes.end == codes.start + 1, "{curve} {room} {codes:?}");
                    next = codes.end;
                }
                assert_eq!(next, regions);
                // No more than four times as many as there have to be.
                let least = cells.div_ceil(room.max(48)).max(32) as usize;
                assert!(pieces.len() <= 4 * least, "{curve} {room}: {} pieces", pieces.len());
            }
        }
    }

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
