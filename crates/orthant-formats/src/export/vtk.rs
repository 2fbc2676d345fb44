//! What files of VTK have in common: XML, and behind it arrays as they are.

use std::io::Write;

use crate::export::error::ExportError;
use orthant::CellType;
use orthant::geometry::Domain;
use orthant::per_axis;

/// What VTK counts with.
const MOST: u32 = i32::MAX as u32;

/// Refuses what is not an image or a volume that VTK can count.
pub(super) fn check<const K: usize>(format: &'static str, size: [u32; K]) -> Result<(), ExportError> {
    if !(2..=3).contains(&K) {
        return Err(ExportError::Dimensions { format, k: K, allowed: "2 or 3" });
    }
    // A grid has a point more than cells.
    match (0..K).find(|&j| size[j] >= MOST) {
        Some(axis) => Err(ExportError::Extent { format, axis, size: size[axis], most: MOST - 1 }),
        None => Ok(()),
    }
}

/// Something per axis for an image or a volume, and `beyond` for the axis that an image has not.
#[inline]
pub(super) fn three<const K: usize, T: Copy + Default>(of: [T; K], beyond: T) -> [T; 3] {
    per_axis::each(|j| of.get(j).copied().unwrap_or(beyond))
}

/// Numbers as the XML has them: the shortest text that reads as them.
pub(super) fn numbers(numbers: [f64; 3]) -> String {
    numbers.map(|number| format!("{number:?}")).join(" ")
}

/// Where the first cell begins, and how long one is.
pub(super) fn origin_and_spacing<const K: usize>(domain: &Domain<K>) -> ([f64; 3], [f64; 3]) {
    (three(domain.low(), 0.0), three(domain.pitch(), 1.0))
}

/// What VTK calls a type.
pub(super) fn data_type(kind: CellType) -> &'static str {
    match kind {
        CellType::U8 => "UInt8",
        CellType::U16 => "UInt16",
        CellType::U32 => "UInt32",
        CellType::U64 => "UInt64",
        CellType::I8 => "Int8",
        CellType::I16 => "Int16",
        CellType::I32 => "Int32",
        CellType::I64 => "Int64",
        CellType::F32 => "Float32",
        CellType::F64 => "Float64",
    }
}

/// The beginning of a file; arrays are behind the XML, each after its length.
pub(super) fn begin(what: &str, version: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"{what}\" version=\"{version}\" byte_order=\"LittleEndian\" header_type=\"UInt64\">\n"
    )
}

/// The same of a file whose arrays are compressed.
pub(super) fn begin_compressed(what: &str, version: &str) -> String {
    begin(what, version).replacen(" header_type", " compressor=\"vtkZLibDataCompressor\" header_type", 1)
}

/// What stands between the XML and the arrays.
pub(super) const APPENDED: &str = "  <AppendedData encoding=\"raw\">\n   _";

/// What stands behind the arrays.
pub(super) const END: &str = "\n  </AppendedData>\n</VTKFile>\n";

/// Writes the length of an array that comes next.
pub(super) fn length(bytes: u64, out: &mut dyn Write) -> Result<(), ExportError> {
    out.write_all(&bytes.to_le_bytes()).map_err(ExportError::Write)
}

/// Writes text.
pub(super) fn text(text: &str, out: &mut dyn Write) -> Result<(), ExportError> {
    out.write_all(text.as_bytes()).map_err(ExportError::Write)
}
