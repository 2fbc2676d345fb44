//! The files of a shard of a tree, one per array.

use std::io::{self, Write};
use std::ops::Range;

use crate::backend::Error;
use crate::cell::CellType;
use crate::disk::PartFolder;
use crate::parallel;
use crate::result::{Cells, append_le};
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Held;
use crate::tree::file::shards::{Array, Shards};
use crate::tree::file::staged::{Hashed, Written};
use crate::zarr::{self, ShardWriter};

/// Chunks that wait to be written one after the other, per thread.
const WAVE: usize = 8;

/// The cells of a shard's leaves.
pub(super) struct ShardCells<'a> {
    /// Of bricks, or of entries.
    pub(super) cells: &'a Cells,
    /// Of entries their places.
    pub(super) places: &'a [u64],
    /// Those of the shard.
    pub(super) range: Range<usize>,
}

/// The files of a shard.
pub(super) struct ShardFiles<'a> {
    pub(super) shard: u64,
    pub(super) shards: &'a Shards,
    pub(super) kind: CellType,
    pub(super) folder: &'a PartFolder,
    /// Says whether to go on.
    pub(super) hear: &'a (dyn Fn() -> Result<(), Error> + Sync),
}

impl ShardFiles<'_> {
    /// Writes the file of each array, all of them at the same time.
    pub(super) fn all(
        &self,
        held: &Held,
        columns: &Columns,
        cells: ShardCells<'_>,
    ) -> Result<Vec<Written>, TreeFileError> {
        let arrays: Vec<Array> = Array::files(held, self.shards.are_listed()).collect();
        parallel::try_map(arrays.len(), &|i| self.file(arrays[i], columns, &cells))
    }

    /// Writes the file of one array.
    fn file(
        &self,
        array: Array,
        columns: &Columns,
        ShardCells { cells, places, range }: &ShardCells<'_>,
    ) -> Result<Written, TreeFileError> {
        let metadata = self.shards.metadata(array, columns.position.len(), self.kind);
        let width = self.kind.bytes() as usize;
        let words = |words: &[u64]| -> Vec<u8> {
            let mut bytes = Vec::with_capacity(words.len() * width);
            words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()[..width]));
            bytes
        };
        let made = self.folder.make(&array.shard_name(self.shard), |file| {
            let mut file = Hashed::new(file);
            let mut writer = ShardWriter::new(&mut file, &metadata);
            match array {
                Array::Level => writer.push(&columns.level)?,
                Array::Provenance => writer.push(&columns.provenance)?,
                Array::Value => writer.push(&words(&columns.value))?,
                Array::Largest => writer.push(&words(&columns.largest))?,
                Array::Brick => {
                    let bytes: Vec<u8> = columns.brick.iter().flat_map(|place| place.to_le_bytes()).collect();
                    writer.push(&bytes)?;
                }
                Array::Position => {
                    for (axis, positions) in columns.position.iter().enumerate() {
                        writer.advance(self.shards.position_chunk(axis))?;
                        let bytes: Vec<u8> = positions.iter().flat_map(|p| p.to_le_bytes()).collect();
                        writer.push(&bytes)?;
                    }
                }
                Array::Cells => put_cells(&mut writer, metadata.chunk_bytes(), cells, range.clone(), self.hear)?,
                Array::Place => {
                    for some in places[range.clone()].chunks(1 << 16) {
                        (self.hear)().map_err(io::Error::other)?;
                        let bytes: Vec<u8> = some.iter().flat_map(|place| place.to_le_bytes()).collect();
                        writer.push(&bytes)?;
                    }
                }
            }
            writer.finish()?;
            Ok(file.written())
        });
        Ok(made?)
    }
}

/// The next cells of a shard, whose chunks are encoded by all threads.
fn put_cells<W: Write>(
    writer: &mut ShardWriter<W>,
    chunk: usize,
    cells: &Cells,
    bricks: Range<usize>,
    hear: &dyn Fn() -> Result<(), Error>,
) -> io::Result<()> {
    let each = chunk / cells.kind().bytes() as usize;
    let chunks = bricks.len().div_ceil(each);
    let encoded = |number: usize| -> io::Result<Option<Vec<u8>>> {
        let start = bricks.start + number * each;
        let mut bytes = Vec::with_capacity(chunk);
        append_le(cells, start..bricks.end.min(start + each), &mut bytes);
        bytes.resize(chunk, 0);
        // As the writer itself would leave it out.
        let absent = bytes.iter().all(|&byte| byte == 0);
        if absent { Ok(None) } else { zarr::encode(&bytes).map(Some) }
    };
    let wave = WAVE * rayon::current_num_threads();
    for first in (0..chunks).step_by(wave) {
        hear().map_err(io::Error::other)?;
        let some = parallel::try_map(wave.min(chunks - first), &|i| encoded(first + i))?;
        some.iter().try_for_each(|chunk| writer.put(chunk.as_deref()))?;
    }
    Ok(())
}
