//! `.htg`: VTK's HyperTreeGrid, version 2 of the XML.
//!
//! VTK divides boxes in halves, whatever the plan's g, r and B: the domain, in blocks whose side is a power of two, is cut anew. A
//! block that has one value is a vertex without children, and what the last blocks have beyond the domain is masked. Vertices
//! with children show the least of their cells' values.
//!
//! Whoever reads such a file holds all of it, and so does this: the vertices as they are in the file.

use std::io::Write;

use rayon::prelude::*;

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::hyper_tree::HyperTree;
use crate::export::vtk;
use crate::geometry::Region;
use crate::memory::reserve;

/// Cells along a block, unless that would make too many blocks.
const SIDE: u64 = 64;

/// Blocks of a file: each is a tree of its own to VTK, with memory of its own.
const BLOCKS: u64 = 1 << 18;

/// Blocks that are cut anew before they are appended.
const BATCH: usize = 256;

/// Checks that the format holds a domain of this size.
///
/// # Errors
/// If it has neither 2 nor 3 axes, or more cells on one than VTK counts.
pub fn check<const K: usize>(size: [u32; K]) -> Result<(), ExportError> {
    vtk::check(".htg", size)
}

/// Writes all cells, as `value` of VTK's cells.
///
/// # Errors
/// As [`check`]; if cells cannot be read, the writer fails, or there is no memory for the vertices.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let domain = boxes.domain();
    check(domain.size())?;
    let (side, blocks) = grid(domain.size());
    let mut file = Vertices::default();
    let corners: Vec<[u32; K]> = Region { corner: [0; K], extent: blocks }.cells().collect();
    for batch in corners.chunks(BATCH) {
        let tree = |at: &[u32; K]| HyperTree::of(boxes, at.map(|p| u64::from(p) * side), side);
        for tree in batch.par_iter().map(tree).collect::<Result<Vec<_>, _>>()? {
            file.append(&tree, boxes.kind().bytes() as usize)?;
        }
    }
    let (origin, spacing) = vtk::origin_and_spacing(&domain);
    let coordinates: [Vec<u8>; 3] = std::array::from_fn(|j| {
        let points = blocks.get(j).map_or(0, |&blocks| u64::from(blocks));
        let at = |point: u64| ((point * side) as f64).mul_add(spacing[j], origin[j]);
        (0..=points).flat_map(|point| at(point).to_le_bytes()).collect()
    });
    let [x, y, z] = coordinates;
    let ids = file.depths.len() as u64 / 4;
    let arrays = [
        DataArray { kind: "Float64", name: "XCoordinates", tuples: x.len() as u64 / 8, bytes: x },
        DataArray { kind: "Float64", name: "YCoordinates", tuples: y.len() as u64 / 8, bytes: y },
        DataArray { kind: "Float64", name: "ZCoordinates", tuples: z.len() as u64 / 8, bytes: z },
        DataArray { kind: "Bit", name: "Descriptors", tuples: file.divided.len, bytes: file.divided.bytes },
        DataArray {
            kind: "Int64",
            name: "NumberOfVerticesPerDepth",
            tuples: file.per_depth.len() as u64 / 8,
            bytes: file.per_depth,
        },
        DataArray { kind: "Int64", name: "TreeIds", tuples: ids, bytes: (0..ids).flat_map(u64::to_le_bytes).collect() },
        DataArray { kind: "UInt32", name: "DepthPerTree", tuples: ids, bytes: file.depths },
        DataArray { kind: "Bit", name: "Mask", tuples: file.masked.len, bytes: file.masked.bytes },
        DataArray { kind: vtk::data_type(boxes.kind()), name: "value", tuples: file.masked.len, bytes: file.values },
    ];
    // Points of the grid of blocks, one on the axis that an image has not.
    let points = vtk::three(blocks.map(|blocks| blocks + 1), 1).map(|points| points.to_string()).join(" ");
    let mut offset = 0;
    let [grid, trees, data] = [&arrays[..3], &arrays[3..8], &arrays[8..]].map(|part| {
        let line = |array: &DataArray| {
            let line = array.line(offset);
            offset += 8 + array.bytes.len() as u64;
            line
        };
        part.iter().map(line).collect::<String>()
    });
    let header = format!(
        "{}  <HyperTreeGrid BranchFactor=\"2\" TransposedRootIndexing=\"0\" Dimensions=\"{points}\">\n    <Grid>\n{grid}    \
         </Grid>\n    <Trees>\n{trees}    </Trees>\n    <CellData Scalars=\"value\">\n{data}    </CellData>\n  \
         </HyperTreeGrid>\n{}",
        vtk::begin("HyperTreeGrid", "2.0"),
        vtk::APPENDED,
    );
    vtk::text(&header, out)?;
    for array in &arrays {
        vtk::length(array.bytes.len() as u64, out)?;
        out.write_all(&array.bytes).map_err(ExportError::Write)?;
    }
    vtk::text(vtk::END, out)
}

/// Cells along a block, and blocks per axis.
fn grid<const K: usize>(size: [u32; K]) -> (u64, [u32; K]) {
    let longest = size.iter().fold(1, |longest, &n| longest.max(u64::from(n)));
    let mut side = SIDE.min(longest.next_power_of_two());
    loop {
        let blocks = size.map(|n| u64::from(n).div_ceil(side) as u32);
        if blocks.iter().map(|&blocks| u64::from(blocks)).product::<u64>() <= BLOCKS {
            return (side, blocks);
        }
        side *= 2;
    }
}

/// An array of the file.
struct DataArray {
    kind: &'static str,
    name: &'static str,
    tuples: u64,
    bytes: Vec<u8>,
}

impl DataArray {
    fn line(&self, offset: u64) -> String {
        let Self { kind, name, tuples, .. } = self;
        format!(
            "      <DataArray type=\"{kind}\" Name=\"{name}\" NumberOfTuples=\"{tuples}\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }
}

/// The vertices of all trees: tree by tree, and of each depth by depth.
#[derive(Default)]
struct Vertices {
    /// Whether it has children; not of the last depth of a tree, where none has.
    divided: BitArray,
    masked: BitArray,
    values: Vec<u8>,
    per_depth: Vec<u8>,
    depths: Vec<u8>,
}

impl Vertices {
    fn append(&mut self, tree: &HyperTree, width: usize) -> Result<(), ExportError> {
        self.depths.extend((tree.depths.len() as u32).to_le_bytes());
        let last = tree.depths.len() - 1;
        for (number, depth) in tree.depths.iter().enumerate() {
            self.per_depth.extend((depth.words.len() as i64).to_le_bytes());
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

/// BitArray as VTK packs them, the first of a byte in its highest place.
#[derive(Default)]
struct BitArray {
    bytes: Vec<u8>,
    len: u64,
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
