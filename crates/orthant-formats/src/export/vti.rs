//! `.vti`: VTK's ImageData, cell by cell.
//!
//! Values belong to cells, not to points, so that the volume of a label is what it is in the array, and a volume has one point
//! more than cells on every axis.

use std::io::Write;

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::{slabs, vtk};
use orthant::here;

/// Checks that the format holds a domain of this size.
///
/// # Errors
/// If it has neither 2 nor 3 axes, or more cells on one than VTK counts.
pub fn check<const K: usize>(size: [u32; K]) -> Result<(), ExportError> {
    vtk::check(".vti", size)
}

/// Writes all cells, as `value` of VTK's cells.
///
/// # Errors
/// As [`check`]; if cells cannot be read, or the writer fails.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    here!(fn(&dyn Boxes<K>, &mut dyn Write) -> Result<(), ExportError> = write_here::<K>)(boxes, out)
}

fn write_here<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    check(boxes.domain().size())?;
    // Only what the check lets through is compiled.
    if const { K == 2 || K == 3 } { write_checked(boxes, out) } else { Ok(()) }
}

fn write_checked<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let domain = boxes.domain();
    let (origin, spacing) = vtk::origin_and_spacing(&domain);
    let extent = vtk::three(domain.size(), 0).map(|n| format!("0 {n}")).join(" ");
    let kind = vtk::data_type(boxes.kind());
    let header = format!(
        "{}  <ImageData WholeExtent=\"{extent}\" Origin=\"{}\" Spacing=\"{}\">\n    <Piece Extent=\"{extent}\">\n      \
         <CellData Scalars=\"value\">\n        <DataArray type=\"{kind}\" Name=\"value\" format=\"appended\" offset=\"0\"/>\n      \
         </CellData>\n    </Piece>\n  </ImageData>\n{}",
        vtk::begin("ImageData", "1.0"),
        vtk::numbers(origin),
        vtk::numbers(spacing),
        vtk::APPENDED,
    );
    vtk::text(&header, out)?;
    let bytes = domain.cells().saturating_mul(boxes.kind().bytes().into());
    vtk::length(u64::try_from(bytes).unwrap_or(u64::MAX), out)?;
    slabs::write(boxes, u64::MAX, out)?;
    vtk::text(vtk::END, out)
}
