//! How work is cut into portions: what backends work by, and the cost model counts by.

use crate::backend::how::StrategyKind;

/// Cells that a worker of the CPU takes at a time: enough to keep vector lanes busy, few enough to stay in a cache.
#[doc(hidden)]
pub const PIECE: u64 = 16 * 1024;

/// Cells of a region's first round of exploration on the CPU. Mixed regions usually need no second one.
#[doc(hidden)]
pub const FIRST_ROUND: u64 = 16;

/// Most cells of a region in one round; rounds double up to it.
#[doc(hidden)]
pub const LAST_ROUND: u64 = 256;

/// A terminal region that the CPU settles later: its level, its code, and what fills it, if it is no leaf.
pub(crate) type Listed = (u32, u64, Option<u64>);

/// Bytes of one.
pub(crate) const LISTED: u64 = size_of::<Listed>() as u64;

/// How blocks of a GPU share a region (mbr).
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Shared {
    /// Cells per thread of a block that shares a leaf.
    #[doc(hidden)]
    pub leaf: u64,
    /// Cells per thread of a block that shares a fill.
    #[doc(hidden)]
    pub fill: u64,
    /// Most blocks of a region.
    #[cfg_attr(not(feature = "cuda"), expect(dead_code, reason = "blocks are a GPU's"))]
    most: u64,
}

impl Shared {
    /// How a strategy has regions shared: launches from a device cost more, so that theirs are larger.
    #[doc(hidden)]
    pub fn of(strategy: StrategyKind) -> Self {
        match strategy {
            StrategyKind::Exhaustive | StrategyKind::Ask | StrategyKind::BottomUp => {
                Self { leaf: 2, fill: 16, most: 1 << 20 }
            }
            StrategyKind::Dp => Self { leaf: 4, fill: 64, most: 1 << 16 },
        }
    }

    /// Blocks of `threads` threads for a region of `cells` cells, so many per thread.
    #[cfg(feature = "cuda")]
    pub(crate) fn blocks(self, cells: u64, threads: u64, per_thread: u64) -> u32 {
        // `most` is far below 2^32.
        cells.div_ceil(threads * per_thread).clamp(1, self.most) as u32
    }
}

/// Tiles from which on a stream keeps a GPU busy to the end. Where there are fewer regions, a tile has fewer.
#[doc(hidden)]
pub const TILES: u64 = 1 << 17;

/// Leaves of fewer cells are proven by the tiles of streams that settle them, if what they come from has no more cells and children than
/// [`MOST_DIVIDED`]: a map would be too large.
#[doc(hidden)]
pub const LEAST_MAPPED: u64 = 32;

/// See [`LEAST_MAPPED`].
#[doc(hidden)]
pub const MOST_DIVIDED: u64 = 256;
