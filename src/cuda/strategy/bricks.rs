//! The cells of leaves on the device: a brick each, with room for those of the largest region.

use crate::backend::Error;
use crate::cuda::memory::{Allocation, Reserve, read};
use crate::cuda::setup::Setup;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;
use crate::result::Bricks;

/// Bricks, one after the other in the order of a list of leaves.
#[derive(Default)]
pub(super) struct DeviceBricks(Reserve);

impl DeviceBricks {
    /// Makes room for the bricks of so many regions of a level; returns where they begin.
    pub(super) fn reserve(&mut self, setup: &Setup<'_>, level: &Level<MAX_DIM>, leaves: u64) -> Result<u64, Error> {
        let bytes = leaves * level.most_cells() * setup.storage.cell.bytes();
        let bricks = self.0.ensure(setup.device, "the bricks of leaves", bytes, Allocation::Pool)?;
        if level.whole_sides().contains(&0) {
            // Smaller regions leave gaps, which are read back too.
            bricks.set(0)?;
        }
        Ok(bricks.address())
    }

    /// The cells of the first so many bricks, each of which has its room.
    pub(super) fn read(&self, setup: &Setup<'_>, level: &Level<MAX_DIM>, leaves: u64) -> Result<Bricks, Error> {
        let (most, width) = (level.most_cells(), setup.storage.cell.bytes());
        let mut bricks = Bricks::zeroed(setup.storage.cell, leaves, most)?;
        read(setup.device, self.0.address(), leaves * most * width, &mut |start, bytes| {
            bricks.store(start / width, bytes);
            Ok(())
        })?;
        Ok(bricks)
    }
}
