//! `.vtu`: VTK's UnstructuredGrid, a cell for each uniform region, and what leaves are cut into.
//!
//! Regions are as the tree has them, with their level, so that a picture of the subdivision is one click away. The cells of a
//! leaf are cut in halves until they have one value. Arrays are compressed, in blocks as VTK wants them.
//!
//! Whoever reads such a file holds all of it, and so does this: boxes, and the points of their corners, each once.

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use rayon::prelude::*;

use crate::cell::CellType;
use crate::export::error::ExportError;
use crate::export::vtk;
use crate::geometry::{Domain, Region};
use crate::memory::reserve;
use crate::tree::{Parts, Tree, TreeError};

/// Bytes that are compressed at a time.
const BLOCK: usize = 1 << 20;

/// Checks that the format holds a domain of this size.
///
/// # Errors
/// If it has neither 2 nor 3 axes, or more cells on one than VTK counts.
pub fn check<const K: usize>(size: [u32; K]) -> Result<(), ExportError> {
    vtk::check(".vtu", size)
}

/// Writes all regions: `value` of their cells, `level` of the region, and `leaf`, which is 1 of what a leaf was cut into.
///
/// # Errors
/// As [`check`]; if the tree cannot be read, the writer fails, or there is no memory for the boxes.
pub fn write<const K: usize>(tree: &dyn Parts<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let domain = tree.plan().domain();
    check(domain.size())?;
    let mut boxes = FoundBoxes::default();
    for index in 0..tree.parts() {
        boxes.append(&*tree.part(index).map_err(read)?)?;
    }
    let (points, corners) = boxes.points()?;
    // A pixel has four corners, a voxel eight.
    let (cell_type, each) = if K == 2 { (8u8, 4) } else { (11, 8) };
    let kind = tree.kind();
    let count = boxes.cells.len();
    let offsets = (1..=count as i64).flat_map(|cell| (cell * each).to_le_bytes()).collect();
    let arrays = [
        CompressedArray::new("Float64", "Points", 3, places(domain, &points)),
        CompressedArray::new("Int64", "connectivity", 1, corners.iter().flat_map(|id| id.to_le_bytes()).collect()),
        CompressedArray::new("Int64", "offsets", 1, offsets),
        CompressedArray::new("UInt8", "types", 1, vec![cell_type; count]),
        CompressedArray::new(vtk::data_type(kind), "value", 1, boxes.values(kind)),
        CompressedArray::new("UInt8", "level", 1, boxes.levels),
        CompressedArray::new("UInt8", "leaf", 1, boxes.leaves),
    ];
    let mut offset = 0;
    let mut line = |array: &CompressedArray| {
        let line = array.line(offset);
        offset += array.compressed.len() as u64;
        line
    };
    let [points_line, cells, data] =
        [&arrays[..1], &arrays[1..4], &arrays[4..]].map(|part| part.iter().map(&mut line).collect::<String>());
    let header = format!(
        "{}  <UnstructuredGrid>\n    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{count}\">\n      <Points>\n{points_line}      \
         </Points>\n      <Cells>\n{cells}      </Cells>\n      <CellData Scalars=\"value\">\n{data}      </CellData>\n    </Piece>\n  \
         </UnstructuredGrid>\n{}",
        vtk::begin_compressed("UnstructuredGrid", "1.0"),
        points.len(),
        vtk::APPENDED,
    );
    vtk::text(&header, out)?;
    arrays.iter().try_for_each(|array| out.write_all(&array.compressed).map_err(ExportError::Write))?;
    vtk::text(vtk::END, out)
}

fn read(error: TreeError) -> ExportError {
    ExportError::Read(std::io::Error::other(error))
}

/// What becomes cells of VTK.
struct FoundBoxes<const K: usize> {
    cells: Vec<Region<K>>,
    words: Vec<u64>,
    levels: Vec<u8>,
    leaves: Vec<u8>,
}

impl<const K: usize> Default for FoundBoxes<K> {
    fn default() -> Self {
        Self { cells: Vec::new(), words: Vec::new(), levels: Vec::new(), leaves: Vec::new() }
    }
}

impl<const K: usize> FoundBoxes<K> {
    fn append(&mut self, tree: &Tree<K>) -> Result<(), ExportError> {
        for region in tree.regions() {
            let (cells, level) = (region.cells(), region.level() as u8);
            match region.brick() {
                None => self.push(cells, region.uniform().expect("it has no brick"), level, 0)?,
                Some(brick) => {
                    let words: Vec<u64> = brick.map(|place| tree.bricks().word(place)).collect();
                    self.halve(&words, &cells, cells, level)?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, cells: Region<K>, word: u64, level: u8, leaf: u8) -> Result<(), ExportError> {
        reserve(&mut self.cells, 1)?;
        reserve(&mut self.words, 1)?;
        self.cells.push(cells);
        self.words.push(word);
        self.levels.push(level);
        self.leaves.push(leaf);
        Ok(())
    }

    /// Cuts a box of a leaf in halves, along all axes at once, until all cells of a half have the same bits.
    fn halve(&mut self, words: &[u64], leaf: &Region<K>, part: Region<K>, level: u8) -> Result<(), ExportError> {
        let first = words[leaf.place(part.corner)];
        let same = |row: [u32; K]| {
            let start = leaf.place(row);
            words[start..start + part.extent[0] as usize].iter().all(|&word| word == first)
        };
        if part.rows().all(same) {
            return self.push(part, first, level, 1);
        }
        for child in 0..1usize << K {
            let (mut corner, mut extent) = (part.corner, part.extent);
            for j in 0..K {
                let half = part.extent[j].div_ceil(2);
                if child >> j & 1 == 1 {
                    (corner[j], extent[j]) = (corner[j] + half, extent[j] - half);
                } else {
                    extent[j] = half;
                }
            }
            if !extent.contains(&0) {
                self.halve(words, leaf, Region { corner, extent }, level)?;
            }
        }
        Ok(())
    }

    /// The corners of all boxes, each once, in storage order; and which of them each box has, in VTK's order.
    fn points(&self) -> Result<(Vec<[u32; 3]>, Vec<i64>), ExportError> {
        // The slowest axis first, so that points are ordered as cells are.
        let corner = |cells: &Region<K>, number: usize| -> [u32; 3] {
            let at: [u32; K] = std::array::from_fn(|j| cells.corner[j] + (number >> j & 1) as u32 * cells.extent[j]);
            let [x, y, z] = vtk::three(at, 0);
            [z, y, x]
        };
        let all = || self.cells.iter().flat_map(|cells| (0..1 << K).map(move |number| corner(cells, number)));
        let mut points = Vec::new();
        reserve(&mut points, self.cells.len() << K)?;
        points.extend(all());
        points.par_sort_unstable();
        points.dedup();
        let mut ids = Vec::new();
        reserve(&mut ids, self.cells.len() << K)?;
        ids.extend(all().map(|point| points.binary_search(&point).expect("it is one of them") as i64));
        Ok((points, ids))
    }

    fn values(&self, kind: CellType) -> Vec<u8> {
        let width = kind.bytes() as usize;
        self.words.iter().flat_map(|word| word.to_le_bytes().into_iter().take(width)).collect()
    }
}

/// Where points of cells lie, three numbers each.
fn places<const K: usize>(domain: &Domain<K>, points: &[[u32; 3]]) -> Vec<u8> {
    let (origin, spacing) = vtk::origin_and_spacing(domain);
    let place = |&[z, y, x]: &[u32; 3]| [x, y, z].into_iter().enumerate();
    let at = |(j, point): (usize, u32)| f64::from(point).mul_add(spacing[j], origin[j]).to_le_bytes();
    points.iter().flat_map(place).flat_map(at).collect()
}

/// An array of the file.
struct CompressedArray {
    kind: &'static str,
    name: &'static str,
    components: u32,
    /// How many blocks there are, how long they are and the last is if it is shorter, and is each compressed; then the blocks.
    compressed: Vec<u8>,
}

impl CompressedArray {
    fn new(kind: &'static str, name: &'static str, components: u32, bytes: Vec<u8>) -> Self {
        let compress = |block: &[u8]| {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(block).and_then(|()| encoder.finish()).expect("a vector takes bytes")
        };
        let blocks: Vec<Vec<u8>> = bytes.par_chunks(BLOCK).map(compress).collect();
        let facts = [blocks.len(), BLOCK, bytes.len() % BLOCK].into_iter().chain(blocks.iter().map(Vec::len));
        let mut compressed: Vec<u8> = facts.flat_map(|fact| (fact as u64).to_le_bytes()).collect();
        blocks.iter().for_each(|block| compressed.extend(block));
        Self { kind, name, components, compressed }
    }

    fn line(&self, offset: u64) -> String {
        let Self { kind, name, components, .. } = self;
        format!(
            "        <DataArray type=\"{kind}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" offset=\"{offset}\"/>\n"
        )
    }
}
