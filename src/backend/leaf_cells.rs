//! The cells of leaves, until somebody asks for them.

use crate::backend::error::Error;
use crate::cell::CellType;
use crate::result::{Bricks, Terminal};

/// Bricks of leaves, in memory or on a device, that are handed out in the order of a list of regions.
pub(crate) trait LeafCells {
    /// The type of a cell.
    fn kind(&self) -> CellType;

    /// Cells of all bricks, with the gaps between them.
    fn len(&self) -> u64;

    /// Cells to take at once: bricks that are in memory are there twice meanwhile.
    fn together(&self, usual: u64) -> u64 {
        usual
    }

    /// Says that the bricks of these regions will be taken, each once.
    fn announce(&self, _: &[Terminal]) {}

    /// Moves the bricks of some regions to `to`, one after the other, and says of each region where its brick is now: the first is at
    /// `start`. `volumes` has the cells of each region's brick, 0 where it has none.
    ///
    /// # Errors
    /// What a device refuses.
    fn take(&mut self, terminals: &mut [Terminal], volumes: &[u64], start: u64, to: &mut [u8]) -> Result<(), Error>;
}

impl LeafCells for Bricks {
    fn kind(&self) -> CellType {
        self.kind()
    }

    fn len(&self) -> u64 {
        self.len()
    }

    fn announce(&self, terminals: &[Terminal]) {
        self.announce(terminals);
    }

    fn take(&mut self, terminals: &mut [Terminal], volumes: &[u64], start: u64, to: &mut [u8]) -> Result<(), Error> {
        self.take(terminals, volumes, start, to);
        Ok(())
    }
}
