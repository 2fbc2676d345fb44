//! A domain as a grid of blocks, each of which is a tree of boxes cut in halves: what VTK calls a HyperTreeGrid.
//!
//! VTK divides boxes in halves, whatever the plan's g, r and B: the domain, in blocks whose side is a power of two, is cut anew. A
//! block that has one value is a vertex without children, and what the last blocks have beyond the domain is masked. Vertices
//! with children show the least of their cells' values.
//!
//! Whoever reads such a grid holds all of it, and so does this: the vertices as they are in a file.

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::hyper_tree::HyperTree;
use crate::export::vtk;
use orthant::geometry::Region;
use orthant::memory::reserve;
use orthant::parallel;
use orthant::per_axis;

/// Cells along a block, unless that would make too many blocks.
const SIDE: u64 = 64;

/// Blocks of a grid: each is a tree of its own to VTK, with memory of its own.
const BLOCKS: u64 = 1 << 18;

/// Blocks that are cut anew before they are appended.
const BATCH: usize = 256;

/// The vertices of all trees: tree by tree, and of each depth by depth.
#[derive(Default)]
pub(super) struct HyperTreeGrid {
    /// Points of the grid of blocks per axis; one on an axis that an image has not.
    pub(super) points: [u32; 3],
    /// Where they are.
    pub(super) coordinates: [Vec<f64>; 3],
    /// Depths of each tree.
    pub(super) depths: Vec<u32>,
    /// Vertices of each depth of each tree.
    pub(super) per_depth: Vec<i64>,
    /// Whether a vertex has children; not of the last depth of a tree, where none has.
    pub(super) divided: BitArray,
    /// Whether a vertex lies beyond the domain.
    pub(super) masked: BitArray,
    /// Values of the vertices, little-endian.
    pub(super) values: Vec<u8>,
}

impl HyperTreeGrid {
    /// All cells, in 2 or 3 dimensions.
    ///
    /// # Errors
    /// If cells cannot be read, or there is no memory for the vertices.
    pub(super) fn of<const K: usize>(boxes: &dyn Boxes<K>) -> Result<Self, ExportError> {
        let domain = boxes.domain();
        let (side, blocks) = cut(domain.size());
        let (origin, spacing) = vtk::origin_and_spacing(&domain);
        let coordinates = std::array::from_fn(|j| {
            let last = blocks.get(j).map_or(0, |&blocks| u64::from(blocks));
            (0..=last).map(|point| ((point * side) as f64).mul_add(spacing[j], origin[j])).collect()
        });
        let mut grid =
            Self { points: vtk::three::<K, u32>(per_axis::each(|j| blocks[j] + 1), 1), coordinates, ..Self::default() };
        let corners: Vec<[u32; K]> = Region { corner: [0; K], extent: blocks }.cells().collect();
        for batch in corners.chunks(BATCH) {
            let tree = |i: usize| HyperTree::of(boxes, per_axis::each(|j| u64::from(batch[i][j]) * side), side);
            for tree in parallel::try_map(batch.len(), &tree)? {
                grid.append(&tree, boxes.kind().bytes() as usize)?;
            }
        }
        Ok(grid)
    }

    fn append(&mut self, tree: &HyperTree, width: usize) -> Result<(), ExportError> {
        self.depths.push(tree.depths.len() as u32);
        let last = tree.depths.len() - 1;
        for (number, depth) in tree.depths.iter().enumerate() {
            self.per_depth.push(depth.words.len() as i64);
            reserve(&mut self.values, depth.words.len() * width)?;
            for word in &depth.words {
                self.values.extend(&word.to_le_bytes()[..width]);
            }
            depth.masked.iter().for_each(|&masked| self.masked.push(masked));
            if number < last {
                depth.divided.iter().for_each(|&divided| self.divided.push(divided));
            }
        }
        Ok(())
    }
}

/// Cells along a block, and blocks per axis.
fn cut<const K: usize>(size: [u32; K]) -> (u64, [u32; K]) {
    let longest = size.iter().fold(1, |longest, &n| longest.max(u64::from(n)));
    let mut side = SIDE.min(longest.next_power_of_two());
    loop {
        let blocks = per_axis::each(|j| u64::from(size[j]).div_ceil(side) as u32);
        if blocks.iter().map(|&blocks| u64::from(blocks)).product::<u64>() <= BLOCKS {
            return (side, blocks);
        }
        side *= 2;
    }
}

/// Bits as VTK packs them, the first of a byte in its highest place.
#[derive(Default)]
pub(super) struct BitArray {
    pub(super) bytes: Vec<u8>,
    pub(super) len: u64,
}

impl BitArray {
    fn push(&mut self, bit: bool) {
        let place = self.len % 8;
        if place == 0 {
            self.bytes.push(0);
        }
        if bit {
            *self.bytes.last_mut().expect("there is a byte for it") |= 0x80 >> place;
        }
        self.len += 1;
    }
}
