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
        let bytes = ReadBytes::of(self.axes(), self.kind().bytes(), self.layout.is_some(), self.store.is_remote());
        self.shards.index_bytes(self.axes()).saturating_add(bytes.of_shard(&self.shard_of(part).1))
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

/// The memory that a row and a cell take while they are read.
#[derive(Debug, PartialEq, Eq)]
struct ReadBytes {
    row: u64,
    cell: u64,
}

impl ReadBytes {
    /// Rows as they lie in the file are there beside the regions that they become.
    fn of(axes: usize, cell_bytes: u64, is_listed: bool, is_remote: bool) -> Self {
        // What a server sends is there as a whole before it is unpacked.
        let (sent, copies) = if is_remote { (1, 3) } else { (0, 2) };
        let place = if is_listed { ListedCells::PLACE_BYTES } else { 0 };
        // Of a list a row has where the entries of its leaf begin and end.
        let row = Entries::BYTES + 2 * place + (1 + sent) * Columns::row_bytes(axes);
        Self { row, cell: copies * (cell_bytes + place) }
    }

    fn of_shard(&self, held: &Held) -> u64 {
        held.rows.saturating_mul(self.row).saturating_add(held.cells.saturating_mul(self.cell))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_a_shard_follows_from_its_header() {
        // In the file a level, a provenance and 3 coordinates; the value and the brick, as they are read and as words.
        let in_the_file = 1 + 1 + 12 + 2 * (8 + 8);
        assert_eq!(ReadBytes::of(3, 2, false, false), ReadBytes { row: 17 + in_the_file, cell: 2 * 2 });
        assert_eq!(ReadBytes::of(3, 2, true, false), ReadBytes { row: 17 + in_the_file + 2 * 8, cell: 2 * (2 + 8) });
        assert_eq!(ReadBytes::of(3, 2, false, true), ReadBytes { row: 17 + 2 * in_the_file, cell: 3 * 2 });
        let held = |rows, cells| Held { rows, cells, ..Held::default() };
        assert_eq!(ReadBytes { row: 10, cell: 3 }.of_shard(&held(7, 100)), 370);
        assert_eq!(ReadBytes { row: 10, cell: 3 }.of_shard(&held(1 << 63, 1)), u64::MAX);
    }
}
