//! The shards of a tree in a file, whatever its number of axes is.

use std::ops::Range;
use std::path::Path;

use crate::cell::CellType;
use crate::result::{Cells, RegionsChecksum};
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Header, Held};
use crate::tree::file::piece::piece_name;
use crate::tree::file::shards::{Array, Shards};
use crate::zarr::{CHECKSUMS, ShardReader, ZarrStore};

/// A file, with what its header says of its shards.
#[derive(Debug)]
pub(super) struct StoredShards {
    pub(super) store: ZarrStore,
    pub(super) header: Header,
    pub(super) shards: Shards,
    /// The shard behind each piece, if the files are in a folder of pieces.
    pieces: Option<Vec<u64>>,
}

impl StoredShards {
    /// Checks that the header and the arrays are those of the shards that the plan has.
    pub(super) fn new(
        store: ZarrStore,
        header: Header,
        shards: Shards,
        pieces: Option<Vec<u64>>,
    ) -> Result<Self, TreeFileError> {
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
        let stored = Self { store, header, shards, pieces };
        // Pieces are no arrays yet.
        for array in Array::ALL.into_iter().filter(|_| stored.pieces.is_none()) {
            let metadata = stored.shards.metadata(array, stored.axes(), stored.kind());
            stored.store.expect(&array.metadata_name(), &metadata.text())?;
        }
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

    /// The shards that have regions.
    pub(super) fn with_rows(&self) -> Vec<u64> {
        (0..self.shards.count).filter(|&shard| self.held(shard).rows > 0).collect()
    }

    /// What is wrong with a shard.
    pub(super) fn wrong(&self, shard: u64, reason: String) -> TreeError {
        TreeFileError::Shard { path: self.path().to_owned(), shard, reason }.into()
    }

    /// The bytes of some elements of a shard.
    fn elements(&self, array: Array, shard: u64, run: Range<u64>) -> Result<Vec<u8>, TreeFileError> {
        let mut bytes = Vec::new();
        self.array(array, shard)?.elements(run, &mut bytes)?;
        Ok(bytes)
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

    /// The rows of a shard but for the greatest values, which nothing but a check asks for.
    pub(super) fn columns(&self, shard: u64, rows: u64) -> Result<Columns, TreeFileError> {
        let positions = self.array(Array::Position, shard)?;
        let axis = |axis: usize| -> Result<Vec<u32>, TreeFileError> {
            let (mut bytes, first) = (Vec::new(), self.shards.position(axis));
            positions.elements(first..first + rows, &mut bytes)?;
            Ok(numbers(&bytes, u32::from_le_bytes))
        };
        Ok(Columns {
            level: self.elements(Array::Level, shard, 0..rows)?,
            position: (0..self.axes()).map(axis).collect::<Result<_, _>>()?,
            provenance: self.elements(Array::Provenance, shard, 0..rows)?,
            value: self.words(Array::Value, shard, rows)?,
            largest: Vec::new(),
            brick: numbers(&self.elements(Array::Brick, shard, 0..rows)?, i64::from_le_bytes),
        })
    }

    /// The words of a column of values.
    pub(super) fn words(&self, array: Array, shard: u64, rows: u64) -> Result<Vec<u64>, TreeFileError> {
        let bytes = self.elements(array, shard, 0..rows)?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Ok(bytes.chunks_exact(self.kind().bytes() as usize).map(word).collect())
    }

    /// The bricks of a shard.
    pub(super) fn bricks(&self, shard: u64, cells: u64) -> Result<Cells, TreeError> {
        let mut bricks = Cells::empty(self.kind());
        if cells > 0 {
            let bytes = self.elements(Array::Cells, shard, 0..cells)?;
            bricks = Cells::zeroed(self.kind(), cells as usize)?;
            bricks.store(0, &bytes);
        }
        Ok(bricks)
    }
}

/// Numbers of their bytes.
fn numbers<const N: usize, T>(bytes: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| of(bytes)).collect()
}
