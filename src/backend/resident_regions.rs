//! Regions that stay on a device.
//!
//! As with a [dense array](crate::backend::ResidentArray), whoever computes on a GPU next needs addresses there. The lists are those of
//! [`Keep::Regions`](crate::result::Keep) in the order of a [`Subdivision`](crate::result::Subdivision); the memory stays the prepared
//! plan's.

use std::ops::Range;

use crate::cell::CellType;

/// Where the terminal regions of a run and the cells of its leaves lie in the memory of a device.
/// [`Prepared::resident_regions`](crate::backend::Prepared::resident_regions) says whose they are, and how long they stay.
///
/// There are three lists with an entry per region, by level and code, and the bricks:
///
/// ```text
/// codes   u64 [entries]          the region's code on its level
/// words   cell [entries]         what fills it, if it is uniform
/// places  u64 [entries]          the first cell of its brick; all bits set if it is uniform
/// cells   cell [leaves, each]    bricks in the order of the entries, a region's axis 0 fastest
/// ```
///
/// A brick has room for `each` cells, those of the largest leaf. A smaller one uses the first of them. Where n is a multiple of the last
/// level's grid all leaves are alike, and the bricks are those of [`Subdivision::bricks`](crate::result::Subdivision::bricks), byte for
/// byte.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResidentRegions {
    /// The number of the device, as [`Target::open`](crate::Target::open) counts.
    pub ordinal: usize,
    /// The type of a cell.
    pub cell: CellType,
    /// Which entries are of each level of the plan.
    pub levels: Vec<Range<u64>>,
    /// The address of the codes.
    pub codes: u64,
    /// The address of the words.
    pub words: u64,
    /// The address of the places.
    pub places: u64,
    /// The address of the first brick; 0 if there is none.
    pub cells: u64,
    /// How many bricks there are.
    pub leaves: u64,
    /// Cells that a brick has room for.
    pub each: u64,
}

impl ResidentRegions {
    /// How many regions there are.
    pub fn len(&self) -> u64 {
        self.levels.last().map_or(0, |level| level.end)
    }

    /// True if there are none, as of a part without roots.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of the lists and of the bricks.
    pub fn bytes(&self) -> u64 {
        self.len() * (16 + self.cell.bytes()) + self.leaves * self.each * self.cell.bytes()
    }
}
