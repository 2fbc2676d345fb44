//! A part of a tree as it is in a file, read and checked however many axes it has.

use std::ops::Range;

use crate::result::{Cells, RegionsChecksum};
use crate::rule::exact;
use crate::tree::curve_order::CurveRegions;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Held;
use crate::tree::file::stored_shards::StoredShards;
use crate::tree::list::{LEAF_CELLS, ListLayout, ListedCells};
use crate::tree::stored::tiles;
use crate::zarr::CHECKSUMS;

/// Shards that are read together, at most, for each thread.
const MANY: usize = 4;

/// The rows of a part, and the keys that they tile.
pub(super) struct StoredPart {
    pub(super) keys: Range<u128>,
    pub(super) entries: Entries,
    pub(super) cells: PartCells,
}

/// The cells of a part's leaves.
pub(super) enum PartCells {
    Bricks(Cells),
    List(ListedCells),
}

impl StoredShards {
    /// Reads a part, but does not look at its checksum.
    pub(super) fn part(&self, part: usize, regions: &dyn CurveRegions) -> Result<StoredPart, TreeError> {
        if let Some(layout) = &self.layout {
            return self.listed_part(part, regions, layout);
        }
        let (columns, bricks) = self.shard(self.parts[part], true)?;
        let (keys, entries) = self.entries(part, regions, &columns)?;
        Ok(StoredPart { keys, entries, cells: PartCells::Bricks(bricks) })
    }

    /// Reads a part of the tree of a list, but does not look at its checksum.
    fn listed_part(
        &self,
        part: usize,
        regions: &dyn CurveRegions,
        layout: &ListLayout,
    ) -> Result<StoredPart, TreeError> {
        let (shard, held) = self.shard_of(part);
        let (columns, words) = self.shard(shard, true)?;
        let places = self.places(shard)?;
        let (entries, starts) = columns.listed(regions, self.kind()).map_err(self.wrong_row(shard))?;
        let keys = self.tiled_keys(part, regions, &entries)?;
        let wrong = |reason| Err(self.wrong(shard, reason));
        if starts.last().is_some_and(|&last| last >= held.cells) || (starts.is_empty() && held.cells > 0) {
            return wrong(format!("leaves whose entries begin at {:?}, of {}", starts.last(), held.cells));
        }
        let ends = starts.iter().copied().skip(1).chain((!starts.is_empty()).then_some(held.cells)).collect();
        let list = ListedCells::of(layout.background, layout.most, ends, places, words);
        let background = |&word: &u64| exact::key(self.kind(), word) == layout.background;
        for (number, row) in (0..entries.len()).filter(|&row| entries.is_leaf(row)).enumerate() {
            let (leaf, level) = (list.leaf(number), entries.level(row));
            let cells = regions.cells_of(level, regions.order().code(level, entries.keys[row]));
            if cells > LEAF_CELLS {
                return wrong(format!("leaf {number}: {cells} cells, of which 2^64 can be in a leaf"));
            }
            let ascend = leaf.places.is_sorted_by(|a, b| a < b);
            if !ascend || leaf.places.last().is_none_or(|&last| u128::from(last) >= cells) {
                return wrong(format!(
                    "leaf {number}: places of entries that do not ascend, or beyond its {cells} cells"
                ));
            }
            if (0..leaf.places.len()).any(|entry| background(&leaf.entry(entry))) {
                return wrong(format!("leaf {number}: an entry of the background's value"));
            }
        }
        Ok(StoredPart { keys, entries, cells: PartCells::List(list) })
    }

    /// The regions of a part, from its columns. They have to tile what the part covers.
    pub(super) fn entries(
        &self,
        part: usize,
        regions: &dyn CurveRegions,
        columns: &Columns,
    ) -> Result<(Range<u128>, Entries), TreeError> {
        let (shard, held) = self.shard_of(part);
        let (entries, cells) = columns.entries(regions, self.kind()).map_err(self.wrong_row(shard))?;
        if cells != held.cells {
            return Err(self.wrong(shard, format!("bricks of {cells} cells, and the header says {}", held.cells)));
        }
        Ok((self.tiled_keys(part, regions, &entries)?, entries))
    }

    /// The keys that a part covers, which rows must tile.
    fn tiled_keys(&self, part: usize, regions: &dyn CurveRegions, entries: &Entries) -> Result<Range<u128>, TreeError> {
        let (start, shard) = (|part: usize| Some(self.shards.keys(*self.parts.get(part)?).start), self.parts[part]);
        let end = start(part + 1).unwrap_or(regions.order().whole().end);
        let keys = start(part).expect("there is such a part")..end;
        if !tiles(regions.order(), entries, &keys) {
            let reason = format!("{} regions, which do not tile what they should cover", entries.len());
            return Err(self.wrong(shard, reason));
        }
        Ok(keys)
    }

    /// Checks the regions and the bricks of a part, which have this checksum.
    pub(super) fn check(&self, part: usize, found: RegionsChecksum) -> Result<(), TreeError> {
        let (shard, held) = self.shard_of(part);
        match !CHECKSUMS || found == held.checksum {
            true => Ok(()),
            false => {
                let reason = format!("regions with checksum {found}, and the header says {}", held.checksum);
                Err(self.wrong(shard, reason))
            }
        }
    }

    /// The shard that a part is, and what the header says of it.
    pub(super) fn shard_of(&self, part: usize) -> (u64, Held) {
        let shard = self.parts[part];
        (shard, self.held(shard))
    }

    /// The part that holds a code of the shards' level.
    pub(super) fn holding(&self, code: u64) -> usize {
        let shard = self.shards.of_code(code);
        self.parts.partition_point(|&first| first <= shard) - 1
    }

    /// The memory that reading a part takes.
    pub(super) fn reading(&self, part: usize) -> u64 {
        let (Held { rows, cells, .. }, listed) = (self.shard_of(part).1, self.layout.is_some());
        // What a server sends is there as a whole before it is unpacked.
        let (sent, copies) = if self.store.is_remote() { (1, 3) } else { (0, 2) };
        let places = if listed { ListedCells::PLACE_BYTES } else { 0 };
        let cell = copies * (self.kind().bytes() + places);
        // Where the entries of each leaf begin and end.
        let ends = if listed { 2 * ListedCells::PLACE_BYTES } else { 0 };
        let row = Entries::BYTES + ends + (1 + sent) * Columns::row_bytes(self.axes());
        let indices = self.shards.index_bytes(self.axes());
        indices.saturating_add(rows.saturating_mul(row)).saturating_add(cells.saturating_mul(cell))
    }

    /// How many of some parts are read together, in at most so many bytes.
    pub(super) fn together(&self, parts: &[usize], limit: u64) -> usize {
        // Shards differ in size: some for each thread, so that fewer threads wait for the largest.
        let some = &parts[..parts.len().min(MANY * rayon::current_num_threads())];
        let mut bytes = 0u64;
        let fit = some.iter().take_while(|&&part| {
            bytes = bytes.saturating_add(self.reading(part));
            bytes <= limit
        });
        fit.count()
    }

    /// What is wrong with a row of a shard.
    pub(super) fn wrong_row(&self, shard: u64) -> impl Fn((usize, String)) -> TreeFileError {
        move |(row, reason)| TreeFileError::Row { path: self.path().to_owned(), shard, row, reason }
    }
}
