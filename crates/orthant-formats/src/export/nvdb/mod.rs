//! `.nvdb`: NanoVDB, version 32.4, for renderers and GPUs.
//!
//! Nodes have 32^3, 16^3 and 8^3 children, whatever the plan's g, r and B; a box of one value is a tile. Cells whose bits are 0 are
//! inactive, others active. Types that NanoVDB has not become the next larger that holds all of their values: u8 and i8 become
//! 16 bits, u16 becomes 32. All nodes are in memory, as in those of whoever reads the file.
//!
//! Layouts follow `NanoVDB.h` of OpenVDB 10: structures are laid out as C does, and begin at multiples of 32 bytes.

mod active;
mod grid;
mod layout;
mod leaf;
mod nodes;

use std::io::Write;

use crate::export::boxes::Boxes;
use crate::export::error::ExportError;
use crate::export::vtk;
use grid::VdbGrid;
use layout::Values;
use nodes::{VdbCutter, VdbNodes};
use orthant::CellType;
use orthant::here;

/// Checks that the format holds a domain of this size, and cells of this type.
///
/// # Errors
/// If it has other than 3 axes, or more cells on one than NanoVDB counts; u64 has no counterpart.
pub fn check<const K: usize>(size: [u32; K], kind: CellType) -> Result<(), ExportError> {
    if K != 3 {
        return Err(ExportError::Dimensions { format: ".nvdb", k: K, allowed: "3" });
    }
    let most = i32::MAX as u32;
    if let Some(axis) = (0..K).find(|&j| size[j] > most) {
        return Err(ExportError::Extent { format: ".nvdb", axis, size: size[axis], most });
    }
    Values::of(kind).map(|_| ())
}

/// Writes all cells.
///
/// ```
/// use orthant::Tree;
/// use orthant_formats::export::nvdb;
/// use orthant::ndarray::Array3;
///
/// // A uniform volume is tiles: its file is smaller than its cells.
/// let tree = Tree::<3>::from_array(Array3::<f32>::ones((64, 64, 64)).view())?;
/// let mut file = Vec::new();
/// nvdb::write(&tree, &mut file)?;
/// assert!(file.starts_with(b"NanoVDB") && file.len() < 64 * 64 * 64 * 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`check`]; if the place of cells is no number of single precision, as GPUs have it; if cells cannot be read, the writer fails,
/// or there is no memory for the nodes.
pub fn write<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    here!(fn(&dyn Boxes<K>, &mut dyn Write) -> Result<(), ExportError> = write_here::<K>)(boxes, out)
}

fn write_here<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    check(boxes.domain().size(), boxes.kind())?;
    // Only what the check lets through is compiled.
    if const { K == 3 } { write_checked(boxes, out) } else { Ok(()) }
}

fn write_checked<const K: usize>(boxes: &dyn Boxes<K>, out: &mut dyn Write) -> Result<(), ExportError> {
    let domain = boxes.domain();
    let values = Values::of(boxes.kind())?;
    let (origin, spacing) = vtk::origin_and_spacing(&domain);
    let single = |j: usize| {
        let (step, first) = (spacing[j] as f32, origin[j] as f32);
        step.is_normal() && step.recip().is_normal() && first.is_finite()
    };
    if let Some(axis) = (0..3).find(|&j| !single(j)) {
        return Err(ExportError::Spacing { format: ".nvdb", axis, spacing: spacing[axis], origin: origin[axis] });
    }
    let nodes = VdbNodes::of(&VdbCutter::new(boxes, values))?;
    VdbGrid { values, nodes: &nodes }.write(&domain, out)
}
