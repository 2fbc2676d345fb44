//! The shards of a tree in a file, whatever its number of axes is.

use std::ops::Range;
use std::path::Path;

use crate::cell::CellType;
use crate::result::{Cells, RegionsChecksum};
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Header, Held};
use crate::tree::file::pieces::piece_name;
use crate::tree::file::shards::{Array, Shards};
use crate::tree::list::ListLayout;
use crate::zarr::{CHECKSUMS, ShardReader, ZarrStore};

/// The arrays that a shard is read from, the bricks last.
const READ: [Array; 6] = [Array::Level, Array::Position, Array::Provenance, Array::Value, Array::Brick, Array::Cells];

/// A file, with what its header says of its shards.
#[derive(Debug)]
pub(super) struct StoredShards {
    pub(super) store: ZarrStore,
    pub(super) header: Header,
    pub(super) shards: Shards,
    /// The shards that have regions.
    pub(super) parts: Vec<u64>,
    /// Of the tree of a list.
    pub(super) layout: Option<ListLayout>,
    /// The shard behind each piece, if the files are in a folder of pieces.
    pieces: Option<Vec<u64>>,
}

impl StoredShards {
    /// Checks that the header and the arrays are those of the shards that the plan has.
    pub(super) fn new(
        store: ZarrStore,
        header: Header,
        order: &CurveOrder,
        pieces: Option<Vec<u64>>,
    ) -> Result<Self, TreeFileError> {
        let unfit = TreeFileError::unfit(store.path());
        let layout = header.layout().map_err(&unfit)?;
        let shards = match &layout {
            Some(layout) => Shards::of_list(order, layout),
            None => Shards::new(order, header.shard_cells.max(1)),
        };
        let shards = shards.map_err(unfit)?;
        let wrong = |reason| Err(TreeFileError::Header { path: store.path().to_owned(), key: "shards", reason });
        let lists = &header.shards;
        let count = shards.count as usize;
        if [lists.rows.len(), lists.leaf_cells.len(), lists.checksums.len()] != [count; 3] {
            return wrong(format!("lists that are not of {count} shards, as the plan has them"));
        }
        for shard in 0..count {
            let Held { rows, cells, checksum } = header.held(shard);
            if rows > shards.rows || cells > shards.cells || rows == 0 && (cells > 0 || checksum.0 != 0 || shard == 0) {
                return wrong(format!(
                    "{rows} rows and {cells} cells of bricks in shard {shard}, which can have {} and {}; the first has rows",
                    shards.rows, shards.cells
                ));
            }
        }
        if CHECKSUMS && lists.checksums.iter().copied().sum::<RegionsChecksum>() != header.checksum {
            return Err(TreeFileError::Header {
                path: store.path().to_owned(),
                key: "checksum",
                reason: "not the sum of those of the shards".into(),
            });
        }
        let parts = (0..count as u64).filter(|&shard| header.held(shard as usize).rows > 0).collect();
        let stored = Self { store, header, shards, parts, layout, pieces };
        // Pieces are no arrays yet.
        let arrays = if stored.pieces.is_none() { Array::of_tree(stored.header.is_listed()) } else { &[] };
        stored.store.each(arrays.len(), &|i| {
            let metadata = stored.shards.metadata(arrays[i], stored.axes(), stored.kind());
            stored.store.expect(&arrays[i].metadata_name(), &metadata.text())
        })?;
        Ok(stored)
    }

    pub(super) fn axes(&self) -> usize {
        self.header.size.len()
    }

    pub(super) fn path(&self) -> &Path {
        self.store.path()
    }

    pub(super) fn kind(&self) -> CellType {
        self.header.cell
    }

    pub(super) fn held(&self, shard: u64) -> Held {
        self.header.held(shard as usize)
    }

    /// What is wrong with a shard.
    pub(super) fn wrong(&self, shard: u64, reason: String) -> TreeError {
        TreeFileError::Shard { path: self.path().to_owned(), shard, reason }.into()
    }

    /// The file of an array's shard.
    fn name(&self, array: Array, shard: u64) -> String {
        let name = array.shard_name(shard);
        match &self.pieces {
            None => name,
            Some(ends) => format!("{}/{name}", piece_name(ends.partition_point(|&end| end <= shard))),
        }
    }

    fn array(&self, array: Array, shard: u64) -> Result<ShardReader, TreeFileError> {
        let member = self.store.need(&self.name(array, shard))?;
        Ok(ShardReader::open(member, &self.shards.metadata(array, self.axes(), self.kind()))?)
    }

    /// The cells of a shard of which some are needed; None if that is no less than all of them: they are few, or on disk.
    pub(super) fn sparse_cells(&self, shard: u64) -> Result<Option<ShardReader>, TreeFileError> {
        let metadata = self.shards.metadata(Array::Cells, self.axes(), self.kind());
        let name = self.name(Array::Cells, shard);
        if self.header.is_listed() || self.held(shard).cells == 0 || !self.store.is_worth_ranges(&name) {
            return Ok(None);
        }
        let member = self.store.need(&name)?;
        Ok(Some(ShardReader::sparse(member, &metadata)?))
    }

    /// The rows of a shard but for the greatest values, which nothing but a check asks for, and its bricks.
    pub(super) fn shard(&self, shard: u64, with_bricks: bool) -> Result<(Columns, Cells), TreeError> {
        let Held { rows, cells, .. } = self.held(shard);
        let most = if with_bricks && cells > 0 { READ.len() } else { READ.len() - 1 };
        let arrays = self.store.each(most, &|i| self.array(READ[i], shard))?;
        let [level, positions, provenance, value, brick] = &arrays[..READ.len() - 1] else { unreachable!("as many") };
        let elements = |array: &ShardReader, run: Range<u64>| -> Result<Vec<u8>, TreeFileError> {
            let mut bytes = Vec::new();
            array.elements(run, &mut bytes)?;
            Ok(bytes)
        };
        let axis = |axis: usize| -> Result<Vec<u32>, TreeFileError> {
            let first = self.shards.position(axis);
            Ok(numbers(&elements(positions, first..first + rows)?, u32::from_le_bytes))
        };
        let columns = Columns {
            level: elements(level, 0..rows)?,
            position: (0..self.axes()).map(axis).collect::<Result<_, _>>()?,
            provenance: elements(provenance, 0..rows)?,
            value: self.words_of(&elements(value, 0..rows)?),
            largest: Vec::new(),
            brick: numbers(&elements(brick, 0..rows)?, i64::from_le_bytes),
        };
        let mut bricks = Cells::empty(self.kind());
        if let Some(array) = arrays.get(READ.len() - 1) {
            let bytes = elements(array, 0..cells)?;
            bricks = Cells::zeroed(self.kind(), cells as usize)?;
            bricks.store(0, &bytes);
        }
        Ok((columns, bricks))
    }

    /// The places of a shard's entries, of the tree of a list.
    pub(super) fn places(&self, shard: u64) -> Result<Vec<u64>, TreeFileError> {
        let entries = self.held(shard).cells;
        let mut bytes = Vec::new();
        if entries > 0 {
            self.array(Array::Place, shard)?.elements(0..entries, &mut bytes)?;
        }
        Ok(numbers(&bytes, u64::from_le_bytes))
    }

    /// The words of a column of values.
    pub(super) fn words(&self, array: Array, shard: u64, rows: u64) -> Result<Vec<u64>, TreeFileError> {
        let mut bytes = Vec::new();
        self.array(array, shard)?.elements(0..rows, &mut bytes)?;
        Ok(self.words_of(&bytes))
    }

    fn words_of(&self, bytes: &[u8]) -> Vec<u64> {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        bytes.chunks_exact(self.kind().bytes() as usize).map(word).collect()
    }
}

/// Numbers of their bytes.
fn numbers<const N: usize, T>(bytes: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| of(bytes)).collect()
}
