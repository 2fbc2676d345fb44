//! The tiles of streams (kernels/stream/tile.cuh): which levels they hold, and what shape they have.

use std::fmt::Write;

use crate::backend::{LEAST_MAPPED, MOST_DIVIDED, TILES};
use crate::cell::CellType;
use crate::cuda::outline::Outline;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::per_axis;
use crate::result::Storage;

/// The most regions of a tile, a lane each.
const LANES: u32 = 32;

/// Tiles between faces from which on a GPU is busy to the end, where others need [`TILES`]: some tiles take a hundred times as long as
/// others, most of all those that faces leave, of which every cell may have to be evaluated.
const TILES_BETWEEN_FACES: u64 = 2 * TILES;

/// Cells that a tile may have to evaluate: with more, the last ones keep a GPU waiting. Where children are proven most are not evaluated.
const EVALUATED: u64 = 4096;

/// Bytes that are stored as a whole: a line of the caches.
const LINE: u64 = 128;

/// Bytes of a warp's labels: enough for full lines in four dimensions, few enough for forty warps of a multiprocessor.
const LABELS: u64 = 4096;

/// Shared memory of a block that needs no asking, and what a warp needs of it at most beside labels: survivors and leaves in eight dimensions.
const SHARED: u64 = 48 << 10;
const BESIDE: u64 = 3 * (64 * (2 * 8 + 8) + 8) + 32 * (13 + (4 + 8) * 8 + 16) + 64;

/// The most threads of a block, whose warps have nothing to do with each other.
const THREADS: u32 = 64;

/// The block of a stream, where `block` was asked for.
pub(super) fn block(block: [u32; 3]) -> [u32; 3] {
    if block.iter().product::<u32>() > THREADS { [THREADS, 1, 1] } else { block }
}

/// The tiles of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TileShape {
    dimensions: usize,
    /// The level whose regions are the lanes'.
    pub(super) level: u32,
    /// True if those are divided once more.
    divides: bool,
    /// Regions per axis.
    regions: [u32; MAX_DIM],
    /// The longest sides of a lane's region and of one of the last level.
    side: [u32; MAX_DIM],
    leaf: [u32; MAX_DIM],
    /// Regions of a piece.
    lanes: u32,
    /// True if all regions of a level have the same sides.
    even: bool,
    /// What holds every label in fewer bits than a cell has.
    narrow: Option<CellType>,
}

/// The longest side of a level's regions on every axis.
fn sides(level: &Level<MAX_DIM>, size: [u32; MAX_DIM]) -> [u32; MAX_DIM] {
    per_axis::each(|j| size[j].div_ceil(level.grid[j]))
}

fn cells(sides: [u32; MAX_DIM]) -> u64 {
    sides.iter().fold(1, |cells: u64, &side| cells.saturating_mul(side.into()))
}

/// A type for labels up to `most` that is narrower than cells are.
fn narrow(cell: CellType, most: Option<u64>) -> Option<CellType> {
    let holds = |label: &CellType| most.is_some_and(|most| most <= label.most()) && label.bytes() < cell.bytes();
    [CellType::U8, CellType::U16].into_iter().find(holds)
}

impl TileShape {
    /// The tiles of a plan whose labels are stored so, none above `most`; None if a leaf does not fit what a warp has. They divide
    /// regions only if the host `proves` them, too, and so can tell what became of them.
    pub(super) fn of(outline: &Outline<'_>, storage: Storage, most: Option<u64>, proves: bool) -> Option<Self> {
        let (levels, size, last) = (&outline.levels, outline.size(), outline.last());
        let leaf = sides(last, size);
        let above = levels.len().checked_sub(2).map(|i| &levels[i]).filter(|above| {
            let few = cells(leaf) < LEAST_MAPPED && cells(sides(above, size)) <= MOST_DIVIDED;
            few && proves && outline.children <= MOST_DIVIDED
        });
        let level = above.unwrap_or(last);
        let side = sides(level, size);
        let narrow = narrow(storage.cell, most);
        let bytes = narrow.unwrap_or(storage.cell).bytes();
        // More fit nowhere, and their bytes might be no number.
        if cells(side) > 1 << 16 {
            return None;
        }
        let room = (SHARED / u64::from(THREADS / LANES) - BESIDE).min(LABELS.max(cells(side) * bytes));
        let most = (room / (cells(side) * bytes)).min(u64::from(LANES)) as u32;
        if most == 0 {
            return None;
        }
        let all = u64::try_from(level.regions()).unwrap_or(u64::MAX);
        let few = if above.is_some() { u64::MAX } else { EVALUATED / cells(side) };
        let tiles = if outline.rule.certifies() { TILES } else { TILES_BETWEEN_FACES };
        let tile = 1u32 << (all / tiles).min(few).clamp(1, LANES.into()).ilog2();
        let line = LINE.div_ceil(u64::from(side[0]) * storage.cell.bytes()).min(tile.into()) as u32;
        let mut regions = [1; MAX_DIM];
        // No longer than the lattice, up to the next power of two.
        let fits = |regions: u32, j: usize| regions < level.grid[j];
        while regions[0] < line && fits(regions[0], 0) {
            regions[0] *= 2;
        }
        while let Some(j) = (0..MAX_DIM)
            .filter(|&j| fits(regions[j], j) && regions.iter().product::<u32>() < tile)
            .min_by_key(|&j| if j == 0 { u32::MAX } else { regions[j] })
        {
            regions[j] *= 2;
        }
        let lanes = (1 << most.ilog2()).min(regions.iter().product());
        let even = !last.whole_sides().contains(&0);
        let (dimensions, divides) = (outline.dimensions, above.is_some());
        Some(Self { dimensions, level: level.index, divides, regions, side, leaf, lanes, even, narrow })
    }

    /// The tiles of the lattice.
    pub(super) fn count(&self, level: &Level<MAX_DIM>) -> u64 {
        (0..MAX_DIM).map(|j| u64::from(level.grid[j].div_ceil(self.regions[j]))).product()
    }

    /// What kernels are compiled for.
    pub(super) fn defines(&self) -> Vec<(&'static str, String)> {
        let Self { divides, lanes, even, narrow, .. } = self;
        vec![
            ("TILE_DIVIDES", divides.to_string()),
            ("TILE_EVEN", even.to_string()),
            ("TILE_NARROW", narrow.is_some().to_string()),
            ("PIECE_LANES", format!("{lanes}u")),
        ]
    }

    pub(super) fn declaration(&self) -> String {
        let mut text = format!("using TileLabel = {};\n", self.narrow.map_or("CellValue", CellType::name));
        for (name, numbers) in [("tile_regions", self.regions), ("tile_side", self.side), ("leaf_side", self.leaf)] {
            let cases: String = (0..self.dimensions).map(|j| format!("j == {j} ? {}u : ", numbers[j])).collect();
            writeln!(text, "DEVICE constexpr u32 {name}(u32 j) {{ return {cases}1u; }}").expect("writing to a string");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curve::CurveKind;
    use crate::dimension::widened;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::plan::Plan;
    use crate::rule::RuleKind;

    fn shape<const K: usize>(size: [u32; K], (g, r, b): (u32, u32, u32), cell: CellType, most: u64) -> TileShape {
        let domain = Domain::new(size, [[0.0, 1.0]; K], Sample::Centre).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Morton, RuleKind::Certified).unwrap();
        TileShape::of(&Outline::of_plan(&plan), Storage { label: CellType::U32, cell }, Some(most), true).unwrap()
    }

    #[test]
    fn rows_are_lines() {
        let julibrot = shape([256; 4], (16, 2, 1), CellType::U16, 64);
        assert_eq!((julibrot.divides, julibrot.side, julibrot.leaf), (true, widened([4; 4], 1), widened([2; 4], 1)));
        assert_eq!((julibrot.regions, julibrot.lanes), (widened([16, 2, 1, 1], 1), 16));
        let bulb = shape([1024; 3], (64, 2, 2), CellType::U16, 64);
        assert_eq!(
            (bulb.divides, bulb.side, bulb.regions, bulb.lanes),
            (false, widened([4; 3], 1), widened([16, 2, 1], 1), 32)
        );
        let plane = shape([65536; 2], (64, 2, 16), CellType::U32, 512);
        assert_eq!(
            (plane.divides, plane.side, plane.regions, plane.lanes),
            (false, widened([32; 2], 1), widened([1, 4], 1), 2)
        );
    }

    #[test]
    fn small_lattices_have_small_tiles() {
        assert_eq!(shape([256; 3], (16, 2, 2), CellType::U16, 64).regions, widened([2, 1, 1], 1));
        let small = shape([9, 8, 7, 10], (2, 2, 1), CellType::U8, 64);
        assert!(!small.even && small.narrow.is_none());
        assert_eq!(small.regions, [1; MAX_DIM]);
    }
}
