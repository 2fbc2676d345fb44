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

use crate::export::error::ExportError;
use crate::export::vtk;
use orthant::geometry::{Domain, Region};
use orthant::here;
use orthant::memory::{copies, reserve};
use orthant::parallel;
use orthant::per_axis;
use orthant::tree::{Parts, Tree, TreeError};

/// Bytes that are compressed at a time, or a few less.
const BLOCK: usize = 1 << 20;

/// Cells whose corners are looked through at a time: those of neighbours are shared.
const SHARED: usize = 1 << 16;

/// Checks that the format holds a domain of this size.
///
/// # Errors
/// If it has neither 2 nor 3 axes, or more cells on one than VTK counts.
pub fn check<const K: usize>(size: [u32; K]) -> Result<(), ExportError> {
    vtk::check(".vtu", size)
}

/// Writes all regions as cells of VTK, with three numbers each: `value`, the `level` of the region, and `leaf`, which
/// is 1 for a box that a leaf was cut into.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::vtu;
/// use orthant::ndarray::Array2;
///
/// // Four uniform regions become four cells of VTK.
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// let mut file = Vec::new();
/// vtu::write(&tree, &mut file)?;
/// assert!(String::from_utf8_lossy(&file).contains("NumberOfCells=\"4\""));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`check`]; if the tree cannot be read, the writer fails, or there is no memory for the boxes.
pub fn write<const K: usize>(tree: &dyn Parts<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    here!(fn(&dyn Parts<K>, &mut dyn Write) -> Result<(), ExportError> = write_here::<K>)(tree, out)
}

fn write_here<const K: usize>(tree: &dyn Parts<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    check(tree.plan().domain().size())?;
    // Only what the check lets through is compiled.
    if const { K == 2 || K == 3 } { write_checked(tree, out) } else { Ok(()) }
}

fn write_checked<const K: usize>(tree: &dyn Parts<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let domain = tree.plan().domain();
    let mut boxes = FoundBoxes::default();
    for index in 0..tree.parts() {
        boxes.append(&*tree.part(index).map_err(read)?)?;
    }
    let ends = PointKeys::of(domain.size())?;
    let points = boxes.points(&ends)?;
    let corners = boxes.corners(&ends, &points)?;
    // A pixel has four corners, a voxel eight.
    let (cell_type, each) = if K == 2 { (8u8, 4) } else { (11, 8) };
    let (kind, count, number) = (tree.kind(), boxes.cells.len(), points.len());
    let offsets: Vec<i64> = (1..=count as i64).map(|cell| cell * each).collect();
    let place = places(domain);
    let byte = |&byte: &u8, out: &mut Vec<u8>| out.push(byte);
    let id = |id: &i64, out: &mut Vec<u8>| out.extend_from_slice(&id.to_le_bytes());
    let width = kind.bytes() as usize;
    let arrays = [
        CompressedArray::new("Float64", "Points", 3, 24, points, &|&key, out: &mut Vec<u8>| {
            for at in place(ends.point(key)) {
                out.extend_from_slice(&at.to_le_bytes());
            }
        }),
        CompressedArray::new("Int64", "connectivity", 1, 8, corners, &id),
        CompressedArray::new("Int64", "offsets", 1, 8, offsets, &id),
        CompressedArray::new("UInt8", "types", 1, 1, vec![cell_type; count], &byte),
        CompressedArray::new(vtk::data_type(kind), "value", 1, width, boxes.words, &|word, out| {
            out.extend_from_slice(&word.to_le_bytes()[..width]);
        }),
        CompressedArray::new("UInt8", "level", 1, 1, boxes.levels, &byte),
        CompressedArray::new("UInt8", "leaf", 1, 1, boxes.leaves, &byte),
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
        number,
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
        let mut words = Vec::new();
        for region in tree.regions() {
            let (cells, level) = (region.cells(), region.level() as u8);
            match region.brick() {
                None if tree.is_listed() => {
                    return Err(ExportError::Read(std::io::Error::other("the tree of a list of cells has no bricks")));
                }
                None => self.push(cells, region.uniform().expect("it has no brick"), level, 0)?,
                Some(brick) => {
                    words.clear();
                    brick.for_each(|place| words.push(tree.bricks().word(place)));
                    self.halve(&words, &cells, cells, level)?;
                }
            }
        }
        Ok(())
    }

    #[inline]
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

    /// The corners of all boxes, each once, in storage order.
    fn points(&self, ends: &PointKeys) -> Result<Vec<u64>, ExportError> {
        let some = |i| {
            let mut points = Vec::new();
            for cells in &self.cells[parallel::piece(self.cells.len(), SHARED, i)] {
                ends.corners(cells, &mut |point| points.push(point));
            }
            points.sort_unstable();
            points.dedup();
            points
        };
        let found = parallel::map(self.cells.len().div_ceil(SHARED), &some);
        let mut points: Vec<u64> = Vec::new();
        reserve(&mut points, found.iter().map(Vec::len).sum())?;
        found.into_iter().for_each(|some| points.extend(some));
        points.par_sort_unstable();
        points.dedup();
        Ok(points)
    }

    /// Which of the points each box has, in VTK's order.
    fn corners(&self, ends: &PointKeys, points: &[u64]) -> Result<Vec<i64>, ExportError> {
        let mut ids = copies(0, self.cells.len() << K)?;
        let some = |i: usize, ids: &mut [i64]| {
            let cells = &self.cells[parallel::piece(self.cells.len(), SHARED, i)];
            for (cells, ids) in cells.iter().zip(ids.chunks_exact_mut(1 << K)) {
                let mut corner = 0;
                ends.corners(cells, &mut |point| {
                    ids[corner] = points.binary_search(&point).expect("it is one of them") as i64;
                    corner += 1;
                });
            }
        };
        parallel::pieces_mut(&mut ids, SHARED << K, &some);
        Ok(ids)
    }
}

/// Points of a grid as numbers, ordered as they are stored.
#[derive(Clone, Copy)]
struct PointKeys {
    /// Points along the first two axes.
    points: [u64; 2],
}

impl PointKeys {
    fn of<const K: usize>(size: [u32; K]) -> Result<Self, ExportError> {
        let points = vtk::three(size, 0).map(|n| u64::from(n) + 1);
        let all = points.iter().try_fold(1u64, |all, &points| all.checked_mul(points));
        if all.is_none() {
            let axis = (0..K).max_by_key(|&j| size[j]).expect("there are axes");
            let others = points.iter().map(|&n| u128::from(n)).product::<u128>() / u128::from(points[axis]);
            let most = (u128::from(u64::MAX) / others).saturating_sub(1) as u32;
            return Err(ExportError::Extent { format: ".vtu", axis, size: size[axis], most });
        }
        Ok(Self { points: [points[0], points[1]] })
    }

    /// Calls `each` with the corners of a box, x fastest.
    #[inline]
    fn corners<const K: usize>(self, cells: &Region<K>, each: &mut dyn FnMut(u64)) {
        for number in 0..1usize << K {
            let mut at = cells.corner;
            for j in 0..K {
                at[j] += (number >> j & 1) as u32 * cells.extent[j];
            }
            let [x, y, z] = vtk::three(at, 0);
            each((u64::from(z) * self.points[1] + u64::from(y)) * self.points[0] + u64::from(x));
        }
    }

    #[inline]
    fn point(self, key: u64) -> [u64; 3] {
        let [x, y] = self.points;
        [key % x, key / x % y, key / x / y]
    }
}

/// Where a point lies.
fn places<const K: usize>(domain: &Domain<K>) -> impl Fn([u64; 3]) -> [f64; 3] + use<K> {
    let (origin, spacing) = vtk::origin_and_spacing(domain);
    move |point| per_axis::each(|j| (point[j] as f64).mul_add(spacing[j], origin[j]))
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
    /// Items of `width` bytes each, as `le` writes them.
    fn new<T: Sync>(
        kind: &'static str,
        name: &'static str,
        components: u32,
        width: usize,
        items: Vec<T>,
        le: &(dyn Fn(&T, &mut Vec<u8>) + Sync),
    ) -> Self {
        let each = BLOCK / width;
        let compress = |i| {
            let items = &items[parallel::piece(items.len(), each, i)];
            let mut bytes = Vec::with_capacity(items.len() * width);
            items.iter().for_each(|item| le(item, &mut bytes));
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(&bytes).and_then(|()| encoder.finish()).expect("a vector takes bytes")
        };
        let blocks = parallel::map(items.len().div_ceil(each), &compress);
        let facts = [blocks.len(), each * width, items.len() % each * width].into_iter();
        let facts = facts.chain(blocks.iter().map(Vec::len));
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
