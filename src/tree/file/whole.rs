//! A tree in a file as a whole in memory, and the memory that it and its shards take.

use std::path::Path;

use crate::parallel;
use crate::result::{Cells, MemoryError, Stored};
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::header::Held;
use crate::tree::file::reader::TreeFile;
use crate::tree::list::ListedCells;
use crate::tree::parts::Parts;
use crate::tree::stored::Tree;

impl<const K: usize> TreeFile<K> {
    /// The memory that reading the largest shard takes: its regions and bricks, beside them its bytes in the file's order, and
    /// where its chunks lie.
    pub fn largest_shard(&self) -> u64 {
        self.parts.iter().map(|&shard| self.reading(shard)).max().unwrap_or(0)
    }

    /// The memory that reading a shard takes.
    fn reading(&self, shard: u64) -> u64 {
        let (Held { rows, cells, .. }, listed) = (self.stored.held(shard), self.layout.is_some());
        // What a server sends is there as a whole before it is unpacked.
        let (sent, copies) = if self.is_remote() { (1, 3) } else { (0, 2) };
        let places = if listed { ListedCells::PLACE_BYTES } else { 0 };
        let cell = copies * (self.kind().bytes() + places);
        // Where the entries of each leaf begin and end.
        let ends = if listed { 2 * ListedCells::PLACE_BYTES } else { 0 };
        let row = Entries::BYTES + ends + (1 + sent) * Columns::row_bytes(K);
        let indices = self.stored.shards.index_bytes(K);
        indices.saturating_add(rows.saturating_mul(row)).saturating_add(cells.saturating_mul(cell))
    }

    /// Reads the whole tree, with at most so many bytes for regions and bricks.
    ///
    /// # Errors
    /// [`TreeError::Run`] if it would take more, before anything is read, or there is no memory; [`TreeError::File`].
    pub fn tree(&self, limit: Option<u64>) -> Result<Tree<K>, TreeError> {
        let rows = u128::from(self.len()) * u128::from(Entries::BYTES);
        let places = if self.layout.is_some() { ListedCells::PLACE_BYTES } else { 0 };
        let need = rows + u128::from(self.leaf_cells()) * u128::from(self.kind().bytes() + places);
        if let Some(limit) = limit.filter(|&limit| need > limit.into()) {
            return Err(MemoryError { what: Stored::Terminals, need, limit: Some(limit) }.into());
        }
        if let Some(layout) = &self.layout {
            return self.whole_list(layout);
        }
        let (mut entries, mut bricks) = (Entries::default(), Cells::empty(self.kind()));
        let parts: Vec<usize> = (0..self.parts.len()).collect();
        for some in parts.chunks(self.at_once()) {
            for tree in parallel::try_map(some.len(), &|i| self.read(some[i]))? {
                entries.reserve(tree.len())?;
                bricks.reserve(tree.bricks.len())?;
                entries.append(&tree.entries, 0, bricks.len() as u64);
                bricks.append(&tree.bricks);
            }
        }
        Tree::new(self.along.clone(), self.along.whole(), entries, bricks)
    }
}

impl<const K: usize> Tree<K> {
    /// Opens a file or a folder, and reads all of it.
    ///
    /// # Errors
    /// As [`TreeFile::open`] and [`TreeFile::tree`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TreeError> {
        TreeFile::open(path)?.tree(None)
    }
}

#[cfg(test)]
mod tests;
