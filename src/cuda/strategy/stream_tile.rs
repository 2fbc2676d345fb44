//! The tiles of streams (kernels/stream/tile.cuh): which levels they hold, and what shape they have.

use std::fmt::Write;

use crate::geometry::Level;
use crate::plan::Plan;
use crate::result::{Keep, Storage};

/// The most regions of a tile, a lane each.
const LANES: u32 = 32;

/// Bytes that are stored as a whole: a line of the caches.
const LINE: u64 = 128;

/// Regions of fewer cells are proven where they are settled, if their parents have no more than so many: a map would be too large.
const LEAST_MAPPED: u64 = 32;
const MOST_DIVIDED: u64 = 256;

/// Bytes of a warp's labels: enough for full lines in four dimensions, few enough for forty warps of a multiprocessor.
const LABELS: u64 = 4096;

/// Shared memory of a block that needs no asking, and what a warp needs of it at most beside labels: survivors and boxes.
const SHARED: u64 = 48 << 10;
const BESIDE: u64 = 64 * 3 * (2 * 8 + 8) + 32 * 16 + 64;

/// The most threads of a block, whose warps have nothing to do with each other.
const THREADS: u32 = 64;

/// The block of a stream, where `block` was asked for.
pub(super) fn block(block: [u32; 3]) -> [u32; 3] {
    if block.iter().product::<u32>() > THREADS { [THREADS, 1, 1] } else { block }
}

/// What decides about a region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Decider {
    /// A proof.
    Proofs,
    /// The cells on its faces.
    Faces,
}

impl Decider {
    /// Tiles from which on a GPU is busy to the end. Where there are fewer regions, a tile has fewer: some tiles take a hundred times
    /// as long as others, and those whose regions are looked at longer still.
    fn tiles(self) -> u64 {
        match self {
            Self::Proofs => 1 << 17,
            Self::Faces => 1 << 20,
        }
    }
}

/// The tiles of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TileShape<const K: usize> {
    /// The level whose regions are the lanes'.
    pub(super) level: u32,
    decider: Decider,
    /// True if those are divided once more.
    divides: bool,
    /// Regions per axis.
    regions: [u32; K],
    /// The longest sides of a lane's region and of one of the last level.
    side: [u32; K],
    leaf: [u32; K],
    /// Regions of a piece.
    lanes: u32,
    /// True if all regions of a level have the same sides.
    even: bool,
    kept: Kept,
}

/// The longest side of a level's regions on every axis.
pub(super) fn longest<const K: usize>(level: &Level<K>, size: [u32; K]) -> [u32; K] {
    std::array::from_fn(|j| size[j].div_ceil(level.grid[j]))
}

fn cells<const K: usize>(sides: [u32; K]) -> u64 {
    sides.iter().fold(1, |cells: u64, &side| cells.saturating_mul(side.into()))
}

/// How labels are kept in a piece: in `label` bytes each, as the cells of `cell` bytes that they become, or `narrow`, as what they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Kept {
    label: u64,
    cell: u64,
    narrow: bool,
}

impl Kept {
    fn of(storage: Storage, most: Option<u64>) -> Self {
        let cell = storage.cell.bytes();
        match most {
            Some(most) if most <= u8::MAX.into() && cell > 1 => Self { label: 1, cell, narrow: true },
            Some(most) if most <= u16::MAX.into() && cell > 2 => Self { label: 2, cell, narrow: true },
            _ => Self { label: cell, cell, narrow: false },
        }
    }

    /// The most regions of these sides that a piece has room for.
    fn lanes<const K: usize>(&self, side: [u32; K]) -> Option<u32> {
        // Numbers of cells are in 16 bits.
        let bytes = Some(cells(side)).filter(|&cells| cells <= 1 << 16)? * self.label;
        let room = (SHARED / u64::from(THREADS / LANES) - BESIDE).min(LABELS.max(bytes));
        Some((room / bytes).min(u64::from(LANES)) as u32).filter(|&lanes| lanes > 0)
    }
}

impl<const K: usize> TileShape<K> {
    /// The tiles of a plan of proofs, whose labels are stored so, none above `most`; None if a leaf does not fit what a warp has. They
    /// divide regions only if the host `proves` them, too, and so can tell what became of them.
    pub(super) fn of_proofs(plan: &Plan<K>, storage: Storage, most: Option<u64>, proves: bool) -> Option<Self> {
        let kept = Kept::of(storage, most);
        let divides = |above: &Level<K>, leaf: [u32; K]| {
            cells(leaf) < LEAST_MAPPED && cells(longest(above, plan.domain().size())) <= MOST_DIVIDED && proves
        };
        Self::of(plan, kept, Decider::Proofs, divides)
    }

    /// The tiles of a plan of faces.
    pub(super) fn of_faces(plan: &Plan<K>, storage: Storage, most: Option<u64>) -> Option<Self> {
        let kept = Kept::of(storage, most);
        let divides = |above: &Level<K>, _| kept.lanes(longest(above, plan.domain().size())).is_some();
        Self::of(plan, kept, Decider::Faces, divides)
    }

    fn of(
        plan: &Plan<K>,
        kept: Kept,
        decider: Decider,
        divides: impl Fn(&Level<K>, [u32; K]) -> bool,
    ) -> Option<Self> {
        let (levels, size) = (plan.levels(), plan.domain().size());
        let last = levels.last().expect("a plan has a level");
        let leaf = longest(last, size);
        let above = levels.len().checked_sub(2).map(|i| &levels[i]);
        let above = above.filter(|above| divides(above, leaf) && plan.scheme().children() <= MOST_DIVIDED);
        let level = above.unwrap_or(last);
        let side = longest(level, size);
        let most = kept.lanes(side)?;
        let all = u64::try_from(level.regions()).unwrap_or(u64::MAX);
        let tile = 1u32 << (all / decider.tiles()).clamp(1, LANES.into()).ilog2();
        let line = LINE.div_ceil(u64::from(side[0]) * kept.cell).min(tile.into()) as u32;
        let mut regions = [1; K];
        // No longer than the lattice, up to the next power of two.
        let fits = |regions: u32, j: usize| regions < level.grid[j];
        while regions[0] < line && fits(regions[0], 0) {
            regions[0] *= 2;
        }
        while let Some(j) = (0..K)
            .filter(|&j| fits(regions[j], j) && regions.iter().product::<u32>() < tile)
            .min_by_key(|&j| if j == 0 { u32::MAX } else { regions[j] })
        {
            regions[j] *= 2;
        }
        let lanes = (1 << most.ilog2()).min(regions.iter().product());
        let even = !last.whole_sides().contains(&0);
        let divides = above.is_some();
        Some(Self { level: level.index, decider, divides, regions, side, leaf, lanes, even, kept })
    }

    /// How many levels are decided before tiles are settled.
    pub(super) fn decided_before(&self) -> usize {
        self.level as usize + usize::from(self.decider == Decider::Proofs)
    }

    /// True if the cells on faces decide on that level, before tiles are settled.
    pub(super) fn looks_above(&self, level: u32) -> bool {
        self.decider == Decider::Faces && level < self.level
    }

    /// How many levels have maps.
    pub(super) fn mapped(&self, plan: &Plan<K>, keep: Keep) -> usize {
        match self.decider {
            Decider::Faces if keep != Keep::Counts => plan.levels().len(),
            _ => self.level as usize + 1,
        }
    }

    /// The tiles of the lattice.
    pub(super) fn count(&self, level: &Level<K>) -> u64 {
        (0..K).map(|j| u64::from(level.grid[j].div_ceil(self.regions[j]))).product()
    }

    /// What kernels are compiled for.
    pub(super) fn defines(&self) -> Vec<(&'static str, String)> {
        let Self { divides, lanes, even, kept, .. } = self;
        vec![
            ("TILE_DIVIDES", divides.to_string()),
            ("TILE_EVEN", even.to_string()),
            ("TILE_NARROW", kept.narrow.to_string()),
            ("PIECE_LANES", format!("{lanes}u")),
        ]
    }

    pub(super) fn declaration(&self) -> String {
        let label = match (self.kept.narrow, self.kept.label) {
            (false, _) => "CellValue",
            (true, 1) => "u8",
            (true, _) => "u16",
        };
        let mut text = format!("using TileLabel = {label};\n");
        for (name, numbers) in [("tile_regions", self.regions), ("tile_side", self.side), ("leaf_side", self.leaf)] {
            let cases: String =
                numbers.iter().enumerate().map(|(j, number)| format!("j == {j} ? {number}u : ")).collect();
            writeln!(text, "DEVICE constexpr u32 {name}(u32 j) {{ return {cases}1u; }}").expect("writing to a string");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CellType;
    use crate::curve::CurveKind;
    use crate::geometry::{Domain, Sample, Scheme};
    use crate::rule::RuleKind;

    fn shape<const K: usize>(size: [u32; K], (g, r, b): (u32, u32, u32), cell: CellType, most: u64) -> TileShape<K> {
        let domain = Domain::new(size, [[0.0, 1.0]; K], Sample::Centre).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Morton, RuleKind::Certified).unwrap();
        TileShape::of_proofs(&plan, Storage { label: CellType::U32, cell }, Some(most), true).unwrap()
    }

    #[test]
    fn rows_are_lines() {
        let julibrot = shape([256; 4], (16, 2, 1), CellType::U16, 64);
        assert_eq!((julibrot.divides, julibrot.side, julibrot.leaf), (true, [4; 4], [2; 4]));
        assert_eq!((julibrot.regions, julibrot.lanes), ([16, 2, 1, 1], 16));
        let bulb = shape([1024; 3], (64, 2, 2), CellType::U16, 64);
        assert_eq!((bulb.divides, bulb.side, bulb.regions, bulb.lanes), (false, [4; 3], [16, 2, 1], 32));
        let plane = shape([65536; 2], (64, 2, 16), CellType::U32, 512);
        assert_eq!((plane.divides, plane.side, plane.regions, plane.lanes), (false, [32; 2], [1, 32], 2));
    }

    #[test]
    fn small_lattices_have_small_tiles() {
        assert_eq!(shape([256; 3], (16, 2, 2), CellType::U16, 64).regions, [2, 1, 1]);
        let small = shape([9, 8, 7, 10], (2, 2, 1), CellType::U8, 64);
        assert!(!small.even && !small.kept.narrow);
        assert_eq!(small.regions, [1; 4]);
    }
}
