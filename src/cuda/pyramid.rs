//! What a device knows of the regions of an array: whether their cells differ, and what one of them is.
//!
//! Kernels look at every cell once when a run begins (`survey.rs`), and merge families up to the level of its roots. A proof is then a
//! look-up, under every strategy (kernels/fields/array.cuh). Levels are those of the plan, so that this holds for every n, g and r.

use super::args::{PyramidArgs, PyramidListArgs};
use super::device::Device;
use super::kernel::Kernel;
use super::limits;
use super::memory::{Allocation, Buffer};
use super::outline::Outline;
use super::specialise::Specialisation;
use crate::backend::{Error, How, Start};
use crate::dimension::MAX_DIM;
use crate::field::DeviceTwin;
use crate::geometry::{Level, Region};

/// Cells that a region of the deepest level has on average, at least: what is known of it takes a byte and an element.
const LEAST: u128 = 16;

/// Bytes that a thread takes at once, at most.
const WIDEST: u64 = 16;

/// The block's shape.
const BLOCK: [u32; 3] = [32, 8, 1];

/// How many levels it has, from level 0 on.
pub(super) fn depth(outline: &Outline<'_>) -> usize {
    let kept = |level: &&Level<MAX_DIM>| {
        let regions = level.regions();
        regions <= limits::MOST.into() && regions.saturating_mul(LEAST) <= outline.whole.cells
    };
    outline.levels.iter().take_while(kept).count()
}

/// Its kernels, and those that list regions.
pub(super) fn specialise(outline: &Outline<'_>, twin: &DeviceTwin, how: &How) -> Specialisation {
    Specialisation::of_levels("strategies/bottom_up.cu", outline, twin, &how.clone().block(BLOCK), None)
        .taking::<PyramidArgs>("PyramidArgs")
        .taking::<PyramidListArgs>("PyramidListArgs")
}

/// Room for it, and its kernels.
pub(super) struct Pyramid {
    /// The kernels of the deepest level, and of those above.
    pub(super) cells: Kernel,
    pub(super) merge: Kernel,
    values: Buffer,
    pub(super) mixed: Buffer,
    /// The first region of each level among those of all.
    pub(super) first: Vec<u64>,
    /// The regions of the roots' level in which all roots lie.
    pub(super) roots: Region<MAX_DIM>,
    /// Bytes of a row that a thread takes at once: what divides all rows.
    pub(super) units: u64,
}

impl Pyramid {
    /// Makes room, and tells the twin where.
    ///
    /// # Errors
    /// [`Error::DeviceMemory`], [`Error::Cuda`].
    pub(super) fn new(device: &Device, outline: &Outline<'_>, twin: &mut DeviceTwin, how: &How) -> Result<Self, Error> {
        let (mut first, mut regions) = (Vec::new(), 0);
        for level in &outline.levels[..depth(outline)] {
            first.push(regions);
            regions += level.regions() as u64;
        }
        let kernels = device.kernels(&specialise(outline, twin, how))?;
        let width = outline.labels.kind().bytes();
        let room = |bytes| Buffer::new(device, "what is known of the regions of an array", bytes, Allocation::Pool);
        let (values, mixed) = (room(regions * width)?, room(regions)?);
        twin.write("values", &values.address());
        twin.write("mixed", &mixed.address());
        twin.write("grid", &outline.padded(outline.levels[0].grid));
        twin.write("levels", &(first.len() as u32));
        let roots = Region { corner: [0; MAX_DIM], extent: outline.levels[0].grid };
        let (cells, merge) = (kernels.get("pyramid_cells")?, kernels.get("pyramid_merge")?);
        Ok(Self { cells, merge, values, mixed, first, roots, units: width })
    }

    /// Bytes that it takes on the device.
    pub(super) fn bytes(&self) -> u64 {
        self.values.bytes() + self.mixed.bytes()
    }

    /// Makes ready for a run from `start`. Elements are counted from `address` on, in rows of so many.
    pub(super) fn aim(&mut self, outline: &Outline<'_>, start: &Start<'_, MAX_DIM>, address: u64, row: u32) {
        self.roots = outline.hull(start);
        let width = outline.labels.kind().bytes();
        let deepest = &outline.levels[self.first.len().max(1) - 1];
        // Of regions that differ in length a thread takes an element.
        let side = u64::from(deepest.whole_sides()[0]) * width;
        self.units =
            if side == 0 { width } else { 1 << (side | address | (u64::from(row) * width) | WIDEST).trailing_zeros() };
    }
}
