//! How a tree is cut into shards: runs of codes of a level, which follow from the plan.
//!
//! A shard has a file per array. Where regions of level 0 are small a shard is a run of its codes; otherwise it is a single code of
//! the first level whose regions are small enough. A uniform region of a level above that is a row of the shard in which it
//! begins, and the shards behind it that it covers have no rows.

use std::ops::Range;

use crate::cell::CellType;
use crate::per_axis::text;
use crate::tree::curve_order::{CurveOrder, CurveRegions};
use crate::tree::file::header::Held;
use crate::tree::file::info::Unfit;
use crate::tree::list::ListLayout;
use crate::zarr::{ArrayMetadata, ShardReader};

/// Cells of a shard, about.
pub(super) const CELLS: u64 = 1 << 25;

/// The most shards that a tree has.
const MOST: u128 = 1 << 20;

/// The most cells that a shard has, which can be those of a single region: its index then has a megabyte.
const MOST_CELLS: u128 = 1 << 32;

/// The most rows of a shard of the tree of a list, which is what is written. What a header says beyond that is refused: the
/// index of each array would have megabytes.
const LISTED_ROWS: u64 = 1 << 18;

/// Rows that are compressed as one.
const ROW_CHUNK: u64 = 1 << 12;

/// Cells that are compressed as one.
const CELL_CHUNK: u64 = 1 << 16;

/// The arrays of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Array {
    Level,
    Position,
    Provenance,
    Value,
    Largest,
    Brick,
    Cells,
    /// Of the tree of a list alone.
    Place,
}

impl Array {
    pub(super) const ALL: [Self; 8] = [
        Self::Level,
        Self::Position,
        Self::Provenance,
        Self::Value,
        Self::Largest,
        Self::Brick,
        Self::Cells,
        Self::Place,
    ];

    /// Those of a tree, of a list or not.
    pub(super) fn of_tree(listed: bool) -> &'static [Self] {
        if listed { &Self::ALL } else { &Self::ALL[..7] }
    }

    /// Those that have a file of a shard: no cells, no file of them.
    pub(super) fn files(held: &Held, listed: bool) -> impl Iterator<Item = Self> {
        let cells = held.cells > 0;
        let of_cells = |array: Self| matches!(array, Self::Cells | Self::Place);
        Self::of_tree(listed).iter().copied().filter(move |&array| cells || !of_cells(array))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Level => "level",
            Self::Position => "position",
            Self::Provenance => "provenance",
            Self::Value => "value",
            Self::Largest => "largest",
            Self::Brick => "brick",
            Self::Cells => "cells",
            Self::Place => "place",
        }
    }

    /// Its `zarr.json` among the files of a tree.
    pub(super) fn metadata_name(self) -> String {
        format!("{}/zarr.json", self.name())
    }

    /// Its file of a shard among those of a tree.
    pub(super) fn shard_name(self, shard: u64) -> String {
        let at: &[u64] = if self == Self::Position { &[shard, 0, 0] } else { &[shard, 0] };
        format!("{}/{}", self.name(), ArrayMetadata::key(at))
    }
}

/// The shards of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Shards {
    /// The level whose codes they are runs of.
    pub(super) level: u32,
    /// How many there are.
    pub(super) count: u64,
    /// Codes of a shard, but for the last.
    codes: u128,
    /// All codes of the level.
    all: u128,
    /// Keys of a code.
    keys: u128,
    /// The most rows that a shard can have.
    pub(super) rows: u64,
    /// The most cells that its bricks can have; of a list the most entries.
    pub(super) cells: u64,
    /// Of the tree of a list the first key of each.
    listed: Option<Vec<u64>>,
}

impl Shards {
    /// Shards of about `cells` cells.
    ///
    /// # Errors
    /// If there would be too many, or one is too large.
    pub(super) fn new(order: &CurveOrder, cells: u64) -> Result<Self, Unfit> {
        let level = order.level_of(0, cells.into());
        let (most, all) = (order.most_cells(level), order.codes(level));
        let codes = match level {
            0 => (u128::from(cells) / most).clamp(1, all),
            _ => 1,
        };
        let count = all.div_ceil(codes);
        let keys = order.codes(order.deepest()) / all;
        let most = most.saturating_mul(codes).min(order.domain_cells);
        if count > MOST {
            let reason = format!("a tree of these cells has {count} shards, and {MOST} can be");
            return Err(Unfit { key: "shard_cells", reason });
        }
        if most > MOST_CELLS {
            let reason = format!(
                "shards of up to {most} cells; a region that is not divided further, or the cells \
                 that are asked for, can have 2^32 at most"
            );
            return Err(Unfit { key: "shard_cells", reason });
        }
        // Each region has a cell.
        let (rows, cells) = ((codes * keys) as u64, most as u64);
        Ok(Self { level, count: count as u64, codes, all, keys, rows, cells, listed: None })
    }

    /// Shards of the tree of a list.
    ///
    /// # Errors
    /// If there are too many, or they are those of no tree of this plan.
    pub(super) fn of_list(order: &CurveOrder, layout: &ListLayout) -> Result<Self, Unfit> {
        let wrong = |reason: String| Err(Unfit { key: "list", reason });
        let (all, count) = (order.whole().end, layout.first.len());
        if count as u128 > MOST || layout.rows > LISTED_ROWS || layout.entries > MOST_CELLS as u64 {
            let (rows, entries) = (layout.rows, layout.entries);
            return wrong(format!(
                "{count} shards of {rows} rows and {entries} entries; 2^20 shards can be, of 2^18 rows and 2^32 entries"
            ));
        }
        if layout.first.last().is_none_or(|&last| u128::from(last) >= all) {
            return wrong(format!("a shard from code {:?} on, of {all}", layout.first.last()));
        }
        Ok(Self {
            level: order.deepest(),
            count: count as u64,
            codes: 1,
            all,
            keys: 1,
            rows: layout.rows,
            cells: layout.entries.max(1),
            listed: Some(layout.first.clone()),
        })
    }

    /// True of those of the tree of a list.
    pub(super) fn are_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// Shards of about `cells` cells, and how many these are: if that is the default, more of them where there would be too many shards.
    ///
    /// # Errors
    /// If there would be too many whatever their size, or one is too large.
    pub(super) fn fitting(regions: &dyn CurveRegions, cells: u64) -> Result<(Self, u64), Unfit> {
        let found = Self::enough(regions.order(), cells);
        // A size that somebody chose gets no hint: another size may fit.
        found.map_err(|unfit| if cells == CELLS { Self::with_smaller(unfit, regions) } else { unfit })
    }

    /// The same without a hint at what fits.
    fn enough(order: &CurveOrder, cells: u64) -> Result<(Self, u64), Unfit> {
        let found = Self::new(order, cells).map(|shards| (shards, cells));
        if found.is_ok() || cells != CELLS {
            return found;
        }
        let larger = (CELLS.ilog2() + 1..=MOST_CELLS.ilog2()).map(|bits| 1u64 << bits);
        let fitting = larger.filter_map(|cells| Some((Self::new(order, cells).ok()?, cells))).next();
        fitting.map_or(found, Ok)
    }

    /// What does not fit, with a smaller size of which a tree can be: the first of a half, a quarter and so on.
    fn with_smaller(unfit: Unfit, regions: &dyn CurveRegions) -> Unfit {
        let fits = |halvings: u32| {
            let (order, size) = regions.halved(halvings)?;
            let mut sides = (CELLS.ilog2()..=MOST_CELLS.ilog2()).map(|bits| 1u64 << bits);
            sides.any(|cells| Self::new(&order, cells).is_ok()).then_some(size)
        };
        match (1..32).find_map(fits) {
            Some(size) => Unfit { reason: format!("{}; one of {} cells fits", unfit.reason, text(&size)), ..unfit },
            None => unfit,
        }
    }

    /// Regions of the initial grid that a shard has; 1 where such a region has several shards.
    pub(super) fn roots(&self) -> u64 {
        if self.level == 0 { self.codes as u64 } else { 1 }
    }

    /// The codes of a shard, on its level.
    pub(super) fn codes(&self, shard: u64) -> Range<u128> {
        if let Some(first) = &self.listed {
            let of = |shard: u64| first.get(shard as usize).map_or(self.all, |&first| first.into());
            return of(shard)..of(shard + 1);
        }
        let first = u128::from(shard) * self.codes;
        first..self.all.min(first + self.codes)
    }

    /// Its keys.
    pub(super) fn keys(&self, shard: u64) -> Range<u128> {
        let codes = self.codes(shard);
        codes.start * self.keys..codes.end * self.keys
    }

    /// The rows of a shard among all, or some, which have these keys.
    pub(super) fn rows_of(&self, shard: u64, keys: &[u64]) -> Range<usize> {
        let own = self.keys(shard);
        let row = |key: u128| keys.partition_point(|&first| u128::from(first) < key);
        row(own.start)..row(own.end)
    }

    /// The first shard that begins at a key or behind it.
    pub(super) fn from(&self, key: u128) -> u64 {
        if let Some(first) = &self.listed {
            return first.partition_point(|&first| u128::from(first) < key) as u64;
        }
        key.div_ceil(self.codes * self.keys) as u64
    }

    /// True if a shard begins at a key.
    pub(super) fn begins(&self, key: u128) -> bool {
        let shard = self.from(key);
        shard < self.count && self.keys(shard).start == key
    }

    /// The shard that a code of its level lies in.
    pub(super) fn of_code(&self, code: u64) -> u64 {
        if let Some(first) = &self.listed {
            return first.partition_point(|&first| first <= code).saturating_sub(1) as u64;
        }
        (u128::from(code) / self.codes) as u64
    }

    /// What an array of the tree is.
    pub(super) fn metadata(&self, array: Array, k: usize, cell: CellType) -> ArrayMetadata {
        let rows = self.rows.next_multiple_of(ROW_CHUNK);
        let flat = |kind, most, chunk, name| {
            ArrayMetadata::sharded(kind, &[self.count, most], &[1, most], &[1, chunk], &["shard", name])
        };
        let of_rows = |kind| flat(kind, rows, ROW_CHUNK, "row");
        match array {
            Array::Level | Array::Provenance => of_rows(CellType::U8),
            Array::Value | Array::Largest => of_rows(cell),
            Array::Brick => of_rows(CellType::I64),
            Array::Cells => flat(cell, self.cells.next_multiple_of(CELL_CHUNK), CELL_CHUNK, "cell"),
            Array::Place => flat(CellType::U64, self.cells.next_multiple_of(CELL_CHUNK), CELL_CHUNK, "cell"),
            Array::Position => {
                let k = k as u64;
                let (shape, shard, chunk) = ([self.count, k, rows], [1, k, rows], [1, 1, ROW_CHUNK]);
                ArrayMetadata::sharded(CellType::U32, &shape, &shard, &chunk, &["shard", "axis", "row"])
            }
        }
    }

    /// Bytes of the indices of a shard while it is read: what is in the files, and where each chunk lies.
    pub(super) fn index_bytes(&self, k: usize) -> u64 {
        let (rows, cells) = (self.rows.div_ceil(ROW_CHUNK), self.cells.div_ceil(CELL_CHUNK));
        let (of_rows, of_cells) = (4 + k as u64, if self.are_listed() { 2 } else { 1 });
        (of_rows * rows + of_cells * cells) * ShardReader::INDEX_BYTES
    }

    /// The number of an axis' first chunk in a shard of positions.
    pub(super) fn position_chunk(&self, axis: usize) -> u64 {
        axis as u64 * (self.rows.div_ceil(ROW_CHUNK))
    }

    /// The number of an axis' first element there.
    pub(super) fn position(&self, axis: usize) -> u64 {
        self.position_chunk(axis) * ROW_CHUNK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use crate::tree::along::Along;

    /// Only the size that nobody chose has a hint at a domain that fits.
    #[test]
    fn sizes_that_do_not_fit() {
        let plan = Plan::builder([1 << 12, 1 << 12]).scheme(Scheme::uniform(2, 2, 1)).build().unwrap();
        let refused = Shards::fitting(&Along::new(&plan), 1).unwrap_err();
        assert_eq!(refused.reason, "a tree of these cells has 4194304 shards, and 1048576 can be");
        let wide = Plan::builder([1 << 31; 2]).scheme(Scheme::uniform(2, 2, 1 << 10)).build().unwrap();
        let refused = Shards::fitting(&Along::new(&wide), CELLS).unwrap_err();
        assert!(refused.reason.contains(" cells fits"), "{}", refused.reason);
    }

    /// Each chunk has 16 bytes in the index of its file, and 24 in memory.
    #[test]
    fn an_index_has_the_chunks_of_a_shard() {
        let plan = Plan::builder([64; 3]).scheme(Scheme::uniform(2, 2, 1)).build().unwrap();
        let (mut shards, _) = Shards::fitting(&Along::new(&plan), CELLS).unwrap();
        let mut bytes = |rows, cells| {
            (shards.rows, shards.cells) = (rows, cells);
            shards.index_bytes(3)
        };
        assert_eq!(bytes(1, 1), (4 + 3 + 1) * 40);
        assert_eq!(bytes(1 << 32, 1) - bytes(1, 1), 7 * ((1 << 32) / ROW_CHUNK - 1) * 40);
        assert_eq!(bytes(1, 1 << 32) - bytes(1, 1), ((1 << 32) / CELL_CHUNK - 1) * 40);
        // Entries of a list have their cells and places.
        shards.listed = Some(vec![0]);
        assert_eq!(shards.index_bytes(3), (4 + 3 + 2) * 40);
    }
}
