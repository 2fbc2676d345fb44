//! The faces that regions of a stream share (kernels/stream/faces.cuh): where their labels lie, and how kernels share the work on them.

use crate::cell::CellType;
use crate::cuda::args::StreamArgs;
use crate::cuda::outline::Outline;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;

/// Cells of an owner's planes that a warp evaluates in one go, at most: a warp's lanes together as often as that, where there is enough
/// for all warps of a GPU.
const SLICE: u64 = 256;
const LANES: u64 = 32;
const BUSY: u64 = 1 << 18;

/// Cells on faces that a lane reads.
const READ: u64 = 32;

/// The planes of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Planes {
    dimensions: usize,
    size: [u32; MAX_DIM],
    split: [u32; MAX_DIM],
    /// The grid of the last level, whose lower sides are planes, and its sides where they are whole.
    finest: [u32; MAX_DIM],
    side: [u32; MAX_DIM],
    /// The first cell of each axis' planes, and how many there are of all.
    first: [u32; MAX_DIM],
    entries: u32,
    /// What holds a label.
    label: Option<CellType>,
    label_bytes: u64,
}

impl Planes {
    /// Those of a plan whose labels, of `word` bytes, are none above `most`; None if a number of 32 bits does not count their cells.
    pub(super) fn of(outline: &Outline<'_>, word: u64, most: Option<u64>) -> Option<Self> {
        let (dimensions, last, size) = (outline.dimensions, outline.last(), outline.size());
        let layer = |axis: usize| {
            (0..dimensions).filter(|&l| l != axis).map(|l| u64::from(size[l])).try_fold(1, u64::checked_mul)
        };
        let mut entries = 0u32;
        let mut first = [0; MAX_DIM];
        for (j, first) in first.iter_mut().enumerate().take(dimensions) {
            *first = entries;
            let cells = (u64::from(last.grid[j]) + 1).checked_mul(layer(j)?)?;
            entries = entries.checked_add(u32::try_from(cells).ok()?)?;
        }
        let holds = |kind: &CellType| most.is_some_and(|most| most <= kind.most());
        let label = [CellType::U8, CellType::U16].into_iter().find(holds);
        let label_bytes = label.map_or(word, CellType::bytes);
        Some(Self {
            dimensions,
            size,
            split: outline.split,
            finest: outline.padded(last.grid),
            side: outline.padded(last.whole_sides()),
            first,
            entries,
            label,
            label_bytes,
        })
    }

    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.entries) * self.label_bytes
    }

    /// What kernels are compiled for.
    pub(super) fn declaration(&self) -> String {
        let label = self.label.map_or("Value", CellType::name);
        format!("using FaceLabel = {label};\n")
    }

    /// What every launch knows of them.
    pub(super) fn tell(&self, args: &mut StreamArgs, faces: u64) {
        args.faces = faces;
        (args.planes, args.finest, args.finest_side) = (self.first, self.finest, self.side);
    }

    /// The most cells that a plane of each axis holds about a region of a level.
    fn sections(&self, level: &Level<MAX_DIM>) -> Vec<u64> {
        let side = |l: usize| u64::from(self.size[l].div_ceil(level.grid[l]));
        let closed = |l: usize| (side(l) + 1).min(self.size[l].into());
        let section = |j: usize| (0..j).map(|l| side(l) - 1).chain((j + 1..self.dimensions).map(closed)).product();
        (0..self.dimensions).map(section).collect()
    }

    /// How the planes of owners are evaluated: in how many slices each, and the cells of a slice. Owners are the roots, or regions of
    /// `level` that are divided, of which there are at most so many.
    pub(super) fn evaluation(&self, level: &Level<MAX_DIM>, owners: u64, roots: bool) -> (u32, u32) {
        let planes = |j: usize| if roots { 2 } else { u64::from(self.split[j]) - 1 };
        let most: u64 = self.sections(level).iter().enumerate().map(|(j, cells)| cells * planes(j)).sum();
        let slice = LANES * (owners.saturating_mul(most) / (BUSY * LANES)).clamp(1, SLICE / LANES);
        (most.div_ceil(slice).max(1) as u32, slice as u32)
    }

    /// The lanes that read the faces of a region of a level: a power of two.
    pub(super) fn lanes(&self, level: &Level<MAX_DIM>) -> u32 {
        let cells: u64 = self.sections(level).iter().map(|cells| 2 * cells).sum();
        1 << (cells / READ).clamp(1, 32).ilog2()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::padded;
    use crate::curve::CurveKind;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::plan::Plan;
    use crate::rule::RuleKind;

    fn planes<const K: usize>(
        size: [u32; K],
        (g, r, b): (u32, u32, u32),
        most: u64,
    ) -> (Outline<'static>, Option<Planes>) {
        let domain = Domain::new(size, [[0.0, 1.0]; K], Sample::Centre).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Morton, RuleKind::Closed).unwrap();
        let outline = Outline::of_plan(&plan);
        let planes = Planes::of(&outline, 4, Some(most));
        (outline, planes)
    }

    #[test]
    fn every_lower_side_of_a_leaf_is_a_plane() {
        let (outline, planes) = planes([65536; 2], (32, 2, 8), 512);
        let planes = planes.unwrap();
        assert_eq!(
            (planes.finest, planes.first, planes.bytes()),
            (padded([4096; 2]), padded([0, 4097 << 16]), 2 * 2 * (4097 << 16))
        );
        let levels = &outline.levels;
        // The cross of a region of 32 x 32 cells and the next layer: 31 and 33 cells.
        assert_eq!(planes.sections(&levels[6]), [33, 31]);
        assert_eq!(planes.evaluation(&levels[6], 1 << 22, false), (1, 256));
        assert_eq!(planes.evaluation(&levels[6], 1 << 10, false), (2, 32));
        assert_eq!(planes.evaluation(&levels[0], 1 << 10, true), (256, 32));
        assert_eq!((planes.lanes(&levels[7]), planes.lanes(&levels[0])), (2, 32));
    }

    #[test]
    fn planes_of_few_regions_are_those_of_the_domain() {
        let (outline, planes) = planes([9, 7, 5], (1, 2, 2), 70000);
        let planes = planes.unwrap();
        assert_eq!((planes.finest, planes.first), (padded([2, 2, 2]), padded([0, 3 * 35, 3 * 35 + 3 * 45])));
        assert_eq!((planes.bytes(), planes.label), (4 * (3 * 35 + 3 * 45 + 3 * 63), None));
        // Clipped at the domain's upper side.
        assert_eq!(planes.sections(&outline.levels[0]), [7 * 5, 8 * 5, 8 * 6]);
    }

    #[test]
    fn too_many_cells_are_no_planes() {
        assert!(planes([1 << 20; 2], (64, 2, 64), 512).1.is_none());
    }
}
