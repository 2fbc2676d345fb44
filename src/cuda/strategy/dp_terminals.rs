//! The terminal regions that dynamic parallelism lists on the device, in the order in which they are found.

use crate::backend::{Error, How, Pass};
use crate::cuda::args::DpArgs;
use crate::cuda::constants::LEAF;
use crate::cuda::gather::BricksLeft;
use crate::cuda::memory::{Allocation, Reserve, read_integers};
use crate::cuda::setup::Setup;
use crate::cuda::strategy::bricks::DeviceBricks;
use crate::result::{Keep, Terminal};

/// Lists of codes, levels, outcomes and bricks, an entry for each terminal region; and the codes of the leaves.
#[derive(Default)]
pub(super) struct Terminals {
    pub(super) capacity: u64,
    /// Entries that the last run wrote, or would have.
    pub(super) count: u64,
    codes: Reserve,
    levels: Reserve,
    values: Reserve,
    places: Reserve,
    leaf_codes: Reserve,
    /// Numbers of entries in the order in which they are settled, if they are settled from the list.
    sorted: Reserve,
    /// Bricks that the last run wrote.
    pub(super) leaves: u64,
    pub(super) bricks: DeviceBricks,
}

impl Terminals {
    /// Bytes per region, with codes of `code` bytes and values of `value`.
    pub(super) fn bytes(how: &How, code: u128, value: u128) -> u128 {
        match how.kept.keep {
            Keep::Counts => 0,
            Keep::Dense if how.tuning.pass_on_cuda() == Pass::InPlace => code + 4 + value,
            Keep::Dense => code + 8 + value,
            Keep::Regions => 2 * code + 8 + value,
        }
    }

    /// Makes room for `capacity` regions, unless there is; bricks have their lists only where they are kept.
    pub(super) fn reserve(&mut self, setup: &Setup<'_>, capacity: u64, code_bytes: u64) -> Result<(), Error> {
        if capacity <= self.capacity {
            return Ok(());
        }
        let bricks = if setup.how.kept.keep == Keep::Regions { 1 } else { 0 };
        let sorted =
            if setup.how.kept.keep == Keep::Dense && setup.how.tuning.pass_on_cuda() != Pass::InPlace { 1 } else { 0 };
        for (list, width) in [
            (&mut self.codes, code_bytes),
            (&mut self.levels, 4),
            (&mut self.values, setup.value_bytes()),
            (&mut self.places, bricks * 4),
            (&mut self.leaf_codes, bricks * code_bytes),
            (&mut self.sorted, sorted * 4),
        ] {
            list.ensure(setup.device, "the list of terminal regions", capacity * width, Allocation::Pool)?;
        }
        self.capacity = capacity;
        Ok(())
    }

    /// Tells the kernels where the lists are.
    pub(super) fn describe(&self, args: &mut DpArgs) {
        args.terminal_codes = self.codes.address();
        args.terminal_levels = self.levels.address();
        args.terminal_values = self.values.address();
        args.terminal_bricks = self.places.address();
        args.leaf_codes = self.leaf_codes.address();
        args.terminal_capacity = self.capacity as u32;
    }

    /// Where the numbers of sorted entries go.
    pub(super) fn sorted(&self) -> u64 {
        self.sorted.address()
    }

    /// The regions, and the cells of the leaves, each with room for those of the largest region.
    pub(super) fn collect(&self, setup: &Setup<'_>, code_bytes: u64) -> Result<(Vec<Terminal>, BricksLeft), Error> {
        let mut bricks = BricksLeft::default();
        let mut terminals = Vec::new();
        if setup.how.kept.keep == Keep::Counts {
            return Ok((terminals, bricks));
        }
        let list = |list: &Reserve, width| read_integers(setup.device, list.address(), self.count, width);
        let (codes, levels) = (list(&self.codes, code_bytes)?, list(&self.levels, 4)?);
        let values = list(&self.values, setup.value_bytes())?;
        let last = setup.outline.last();
        let kept = setup.how.kept.keep == Keep::Regions;
        let places = if kept { list(&self.places, 4)? } else { Vec::new() };
        if kept {
            bricks = self.bricks.left(last, self.leaves);
        }
        Terminal::find(&mut terminals, codes.len(), &|i| {
            let (leaf, level) = (levels[i] as u32 & LEAF != 0, levels[i] as u32 & !LEAF);
            Some(match leaf {
                false => Terminal::uniform(level, codes[i], setup.storage.word(values[i])),
                true => Terminal::leaf(level, codes[i], kept.then(|| places[i] * last.most_cells())),
            })
        })?;
        Ok((terminals, bricks))
    }
}
