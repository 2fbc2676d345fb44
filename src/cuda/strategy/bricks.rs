//! The cells of leaves on the device: a brick each, with room for those of the largest region.

use crate::backend::Error;
use crate::cuda::gather::BricksLeft;
use crate::cuda::memory::{Allocation, Reserve};
use crate::cuda::setup::Setup;
use crate::dimension::MAX_DIM;
use crate::geometry::Level;

/// Bricks, one after the other in the order of a list of leaves.
#[derive(Default)]
pub(super) struct DeviceBricks(Reserve);

impl DeviceBricks {
    /// Makes room for the bricks of so many regions of a level; returns where they begin.
    pub(super) fn reserve(&mut self, setup: &Setup<'_>, level: &Level<MAX_DIM>, leaves: u64) -> Result<u64, Error> {
        let bytes = leaves * level.most_cells() * setup.storage.cell.bytes();
        let bricks = self.0.ensure(setup.device, "the bricks of leaves", bytes, Allocation::Pool)?;
        Ok(bricks.address())
    }

    /// Where they begin, 0 if there are none.
    pub(super) fn address(&self) -> u64 {
        self.0.address()
    }

    /// The first so many bricks.
    pub(super) fn left(&self, level: &Level<MAX_DIM>, leaves: u64) -> BricksLeft {
        let uneven = level.whole_sides().contains(&0);
        BricksLeft { address: self.0.address(), bricks: leaves, each: level.most_cells(), uneven }
    }
}
