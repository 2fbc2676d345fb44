//! A tree in a file as a whole: read, saved, and the memory that it and its shards take.

use std::path::Path;

use crate::parallel;
use crate::result::{Cells, MemoryError, Stored};
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::info::TreeInfo;
use crate::tree::file::reader::TreeFile;
use crate::tree::file::writer::TreeTarget;
use crate::tree::list::ListedCells;
use crate::tree::parts::Parts;
use crate::tree::stored::Tree;

impl<const K: usize> TreeFile<K> {
    /// The memory that reading the largest shard takes: its regions and bricks, beside them its bytes in the file's order, and
    /// where its chunks lie.
    pub fn largest_shard(&self) -> u64 {
        (0..self.parts()).map(|part| self.stored.reading(part)).max().unwrap_or(0)
    }

    /// Reads the whole tree, with at most so many bytes for regions and bricks.
    ///
    /// # Errors
    /// [`TreeError::Run`] if it would take more, before anything is read, or there is no memory; [`TreeError::File`].
    pub fn tree(&self, limit: Option<u64>) -> Result<Tree<K>, TreeError> {
        let rows = u128::from(self.len()) * u128::from(Entries::BYTES);
        let places = if self.is_listed() { ListedCells::PLACE_BYTES } else { 0 };
        let need = rows + u128::from(self.leaf_cells()) * u128::from(self.kind().bytes() + places);
        if let Some(limit) = limit.filter(|&limit| need > limit.into()) {
            return Err(MemoryError { what: Stored::Terminals, need, limit: Some(limit) }.into());
        }
        if let Some(layout) = self.layout() {
            return self.whole_list(layout);
        }
        let (mut entries, mut bricks) = (Entries::default(), Cells::empty(self.kind()));
        let parts: Vec<usize> = (0..self.parts()).collect();
        let this: &dyn Parts<K> = self;
        for some in this.batches(&parts) {
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

    /// Saves the tree: as a folder if the name ends in `.tree.zarr`, as one file if it ends in `.tree.zarr.zip`.
    /// [`TreeTarget`] has more options.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array2;
    /// use orthant::tree::TreeInfo;
    ///
    /// # let path = std::env::temp_dir().join(format!("orthant-doc-save-{}.tree.zarr.zip", std::process::id()));
    /// let numbered = Array2::from_shape_fn((10, 10), |(y, x)| (10 * y + x) as u16);
    /// let tree = Tree::<2>::from_array(numbered.view())?;
    /// tree.save(&path, &TreeInfo::of(tree.plan()).source("numbers"))?;
    /// assert_eq!(Tree::<2>::open(&path)?.get([4, 7]), Some(74u16));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::File`] if the tree is partial, there is something of that name, or the system says no.
    pub fn save(&self, path: impl AsRef<Path>, info: &TreeInfo) -> Result<(), TreeError> {
        let mut writer = TreeTarget::new(path).like(self).open(self.plan(), self.kind(), info)?;
        writer.write(self)?;
        writer.finish()
    }
}
