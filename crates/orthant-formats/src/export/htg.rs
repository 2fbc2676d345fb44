//! `.htg`: VTK's HyperTreeGrid, version 2 of the XML.
//!
//! Boxes are cut in halves, whatever the plan's g, r and B, and boxes of one value not at all.

use std::io::Write;

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::hyper_tree_grid::HyperTreeGrid;
use crate::export::vtk;
use orthant::here;

/// Checks that the format holds a domain of this size.
///
/// # Errors
/// If it has neither 2 nor 3 axes, or more cells on one than VTK counts.
pub fn check<const K: usize>(size: [u32; K]) -> Result<(), ExportError> {
    vtk::check(".htg", size)
}

/// Writes all cells, as `value` of VTK's cells. All vertices are in memory.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::htg;
/// use orthant::ndarray::Array2;
///
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// let mut file = Vec::new();
/// htg::write(&tree, &mut file)?;
/// // Two boxes are much smaller than 65536 cells.
/// assert!(file.starts_with(b"<VTKFile") || file.starts_with(b"<?xml"));
/// assert!(file.len() < 4096);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`check`]; if cells cannot be read, the writer fails, or there is no memory for the vertices.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    here!(fn(&dyn Boxes<K>, &mut dyn Write) -> Result<(), ExportError> = write_here::<K>)(boxes, out)
}

fn write_here<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    check(boxes.domain().size())?;
    // Only what the check lets through is compiled.
    if const { K == 2 || K == 3 } { write_checked(boxes, out) } else { Ok(()) }
}

fn write_checked<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let grid = HyperTreeGrid::of(boxes)?;
    fn bytes<T: Copy, const W: usize>(of: &[T], le: impl Fn(T) -> [u8; W]) -> Vec<u8> {
        of.iter().flat_map(|&number| le(number)).collect()
    }
    let [x, y, z] = grid.coordinates.each_ref().map(|at| bytes(at, f64::to_le_bytes));
    let ids: Vec<u64> = (0..grid.depths.len() as u64).collect();
    let array = |kind, name, bytes: Vec<u8>, width: usize| DataArray {
        kind,
        name,
        tuples: (bytes.len() / width) as u64,
        bytes,
    };
    let arrays = [
        array("Float64", "XCoordinates", x, 8),
        array("Float64", "YCoordinates", y, 8),
        array("Float64", "ZCoordinates", z, 8),
        DataArray { kind: "Bit", name: "Descriptors", tuples: grid.divided.len, bytes: grid.divided.bytes },
        array("Int64", "NumberOfVerticesPerDepth", bytes(&grid.per_depth, i64::to_le_bytes), 8),
        array("Int64", "TreeIds", bytes(&ids, u64::to_le_bytes), 8),
        array("UInt32", "DepthPerTree", bytes(&grid.depths, u32::to_le_bytes), 4),
        DataArray { kind: "Bit", name: "Mask", tuples: grid.masked.len, bytes: grid.masked.bytes },
        array(vtk::data_type(boxes.kind()), "value", grid.values, boxes.kind().bytes() as usize),
    ];
    let points = grid.points.map(|points| points.to_string()).join(" ");
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
