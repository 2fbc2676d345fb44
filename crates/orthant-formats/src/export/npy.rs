//! `.npy`: all cells in C order, shape [n_{k-1}, .., n_0], little-endian, format 1.0.
//!
//! Written by hand because it is forty lines and streams without a second copy.

use std::io::{Result, Write};

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::slabs;
use orthant::CellType;
use orthant::here;
use orthant::tree::Source;

/// Writes all cells.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::npy;
/// use orthant::ndarray::Array2;
///
/// let numbered = Array2::from_shape_fn((2, 3), |(y, x)| (10 * y + x) as u8);
/// let tree = Tree::<2>::from_array(numbered.view())?;
/// let mut file = Vec::new();
/// npy::write(&tree, &mut file)?;
/// assert!(file.starts_with(b"\x93NUMPY") && file.ends_with(&[0, 1, 2, 10, 11, 12]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If cells cannot be read, or the writer fails.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> std::result::Result<(), ExportError> {
    write_within(boxes, u64::MAX, out)
}

/// The same with at most `most` bytes of cells in memory at a time, or one cell. No more than 64 MiB are ever.
///
/// # Errors
/// As [`write`](self::write()).
pub fn write_within<const K: usize>(
    boxes: &dyn Boxes<K>,
    most: u64,
    out: &mut dyn Write,
) -> std::result::Result<(), ExportError> {
    header(&boxes.size(), boxes.kind(), out).map_err(ExportError::Write)?;
    cells_within(boxes, most, out)
}

/// Writes the cells without a header: those of an array, or of the next piece of one.
///
/// # Errors
/// As [`write`](self::write()).
pub fn cells<const K: usize>(source: &dyn Source<K>, out: &mut dyn Write) -> std::result::Result<(), ExportError> {
    cells_within(source, u64::MAX, out)
}

fn cells_within<const K: usize>(
    source: &dyn Source<K>,
    most: u64,
    out: &mut dyn Write,
) -> std::result::Result<(), ExportError> {
    here!(fn(&dyn Source<K>, u64, &mut dyn Write) -> std::result::Result<(), ExportError> = slabs::write::<K>)(
        source, most, out,
    )
}

/// Writes what comes before the cells of an array of `size` cells per axis, axis 0 first.
///
/// # Errors
/// If the writer fails.
pub fn header(size: &[u32], kind: CellType, out: &mut dyn Write) -> Result<()> {
    let letter = match kind {
        CellType::U8 | CellType::U16 | CellType::U32 | CellType::U64 => 'u',
        CellType::I8 | CellType::I16 | CellType::I32 | CellType::I64 => 'i',
        CellType::F32 | CellType::F64 => 'f',
    };
    // A byte has no order.
    let kind = format!("{}{letter}{}", if kind.bytes() == 1 { '|' } else { '<' }, kind.bytes());
    let shape: String = size.iter().rev().map(|n| format!("{n}, ")).collect();
    // A one-element tuple keeps its comma; longer ones may.
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({}), }}", shape.trim_end());
    // Magic, version and length take ten bytes; the data must start at a multiple of 64, after a newline.
    let padding = 64 - (10 + header.len() + 1) % 64;
    header.extend(std::iter::repeat_n(' ', padding));
    header.push('\n');
    out.write_all(b"\x93NUMPY\x01\x00")?;
    out.write_all(&(header.len() as u16).to_le_bytes())?;
    out.write_all(header.as_bytes())
}
