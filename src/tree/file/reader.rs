//! Trees from files, shard by shard.

use std::ops::Deref;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::Region;
use crate::plan::Plan;
use crate::result::RegionsChecksum;
use crate::tree::along::Along;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::info::TreeInfo;
use crate::tree::file::recent::RecentParts;
use crate::tree::file::store::TreeStore;
use crate::tree::file::stored_part::PartCells;
use crate::tree::file::stored_shards::StoredShards;
use crate::tree::list::ListLayout;
use crate::tree::parts::Parts;
use crate::tree::stored::Tree;

/// Bytes of shards that stay in memory for whoever asks next, unless one says otherwise.
const KEPT: u64 = 1 << 28;

/// Regions of the shards' level that a box may meet, so that the shards of each are asked for.
pub(super) const MEETING: u128 = 1 << 22;

/// A tree in a file. It reads a shard when a question needs it, and keeps the last ones in memory. Each shard that has
/// regions is one of its [`Parts`].
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::{Parts, TreeFile, TreeInfo};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-file-{}.tree.zarr.zip", std::process::id()));
/// let halves = Array2::from_shape_fn((256, 256), |(_, x)| u8::from(x >= 128));
/// let tree = Tree::<2>::from_array(halves.view())?;
/// tree.save(&path, &TreeInfo::of(tree.plan()))?;
/// let file = TreeFile::<2>::open(&path)?;
/// // On each level how many regions are uniform, and how many are leaves: the header says it.
/// assert_eq!((file.len(), file.terminals()), (4, &[[0, 0], [4, 0], [0, 0]][..]));
/// // A cell, and a question to all parts.
/// assert_eq!(file.word([200, 3])?, Some(1));
/// assert_eq!((&file as &dyn Parts<2>).uniform(&Region { corner: [0, 0], extent: [128, 256] })?, Some(0));
/// file.validate()?;
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TreeFile<const K: usize> {
    pub(super) stored: StoredShards,
    info: TreeInfo,
    pub(super) along: Along<K>,
    kept: Mutex<RecentParts<K>>,
}

impl TreeStore {
    /// The tree in K dimensions.
    ///
    /// # Errors
    /// [`TreeError::File`] if it has another number of them, the header is that of no tree, or an array is not what the header says.
    pub fn tree<const K: usize>(self) -> Result<TreeFile<K>, TreeError> {
        Ok(TreeFile::new(self)?)
    }
}

impl<const K: usize> TreeFile<K> {
    /// Opens a folder, or a zip in which nothing is compressed. If you do not know the number of dimensions, use
    /// [`TreeStore::open`].
    ///
    /// # Errors
    /// As [`TreeStore::open`] and [`TreeStore::tree`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, TreeError> {
        TreeStore::open(path)?.tree()
    }

    fn new(store: TreeStore) -> Result<Self, TreeFileError> {
        here!(fn(TreeStore) -> Result<TreeFile<K>, TreeFileError> = TreeFile::<K>::new_here)(store)
    }

    fn new_here(TreeStore { store, header, info, pieces }: TreeStore) -> Result<Self, TreeFileError> {
        let path = store.path().to_owned();
        if header.size.len() != K {
            return Err(TreeFileError::Dimensions { path, found: header.size.len(), k: K });
        }
        let along = Along::new(&header.plan::<K>().map_err(TreeFileError::unfit(&path))?);
        let stored = StoredShards::new(store, header, &along, pieces)?;
        let kept = Mutex::new(RecentParts::new(KEPT));
        Ok(Self { stored, info, along, kept })
    }

    /// Sets how many bytes of shards stay in memory, instead of 256 MiB. The last shard always stays.
    #[must_use]
    pub fn keep(self, bytes: u64) -> Self {
        self.kept.lock().expect("no reader panics holding it").limit = bytes;
        self
    }

    /// How many bytes of shards stay in memory.
    pub(super) fn limit(&self) -> u64 {
        self.kept.lock().expect("no reader panics holding it").limit
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.stored.path()
    }

    /// The bytes of the zip that it is; None if it is a folder.
    ///
    /// # Errors
    /// [`TreeError::File`] if the system says no.
    pub fn zip_bytes(&self) -> Result<Option<u64>, TreeError> {
        Ok(self.stored.store.zip_bytes().map_err(TreeFileError::from)?)
    }

    /// True if a server has it.
    pub fn is_remote(&self) -> bool {
        self.stored.store.is_remote()
    }

    /// The domain, the scheme and the curve that the regions lie along.
    pub fn plan(&self) -> &Plan<K> {
        self.along.plan()
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.stored.kind()
    }

    /// What is known of the tree beside its regions.
    pub fn info(&self) -> &TreeInfo {
        &self.info
    }

    /// On each level how many regions are uniform, and how many are leaves.
    pub fn terminals(&self) -> &[[u64; 2]] {
        &self.stored.header.terminals
    }

    /// The checksum of the regions, as [`Tree::checksum`].
    pub fn checksum(&self) -> RegionsChecksum {
        self.stored.header.checksum
    }

    /// The number of shards, some of which may have no regions.
    pub fn shards(&self) -> u64 {
        self.stored.shards.count
    }

    /// The number of terminal regions.
    #[allow(clippy::len_without_is_empty, reason = "a domain has cells, and a tree covers them")]
    pub fn len(&self) -> u64 {
        self.stored.header.shards.rows.iter().sum()
    }

    /// How the tree of a list is cut into shards. None of other trees.
    pub fn layout(&self) -> Option<&ListLayout> {
        self.stored.layout.as_ref()
    }

    /// True of the tree of a list: leaves have entries instead of bricks, and lie on any level.
    pub fn is_listed(&self) -> bool {
        self.stored.layout.is_some()
    }

    /// Cells in the bricks of leaves; of the tree of a list the entries of its leaves.
    pub fn leaf_cells(&self) -> u64 {
        self.stored.header.shards.leaf_cells.iter().sum()
    }

    /// Reads a part from the file.
    pub(super) fn read(&self, part: usize) -> Result<Tree<K>, TreeError> {
        here!(fn(&TreeFile<K>, usize) -> Result<Tree<K>, TreeError> = TreeFile::<K>::read_here)(self, part)
    }

    fn read_here(&self, part: usize) -> Result<Tree<K>, TreeError> {
        let (tree, along) = (self.stored.part(part, &self.along)?, self.along.clone());
        let tree = match tree.cells {
            PartCells::Bricks(bricks) => Tree::tiled(along, tree.keys, tree.entries, bricks)?,
            PartCells::List(list) => Tree::listed(along, tree.keys, tree.entries, list)?,
        };
        self.stored.check(part, tree.checksum())?;
        Ok(tree)
    }

    /// The word of a cell; None of a cell outside the domain.
    ///
    /// # Errors
    /// If its shard cannot be read.
    pub fn word(&self, cell: [u32; K]) -> Result<Option<u64>, TreeError> {
        if !self.plan().domain().region().contains_cell(cell) {
            return Ok(None);
        }
        let level = self.stored.shards.level;
        let code = self.plan().encoding().encode(level, self.plan().levels()[level as usize].coords(cell));
        let window = Region { corner: cell, extent: [1; K] };
        Ok(self.part_within(self.stored.holding(code), &window)?.word(cell))
    }
}

/// A part that was read. It stays in memory while somebody has it.
type ReadPart<'a, const K: usize> = Box<dyn Deref<Target = Tree<K>> + 'a>;

impl<const K: usize> TreeFile<K> {
    fn part_here(&self, index: usize) -> Result<ReadPart<'_, K>, TreeError> {
        let kept = || self.kept.lock().expect("no reader panics holding it");
        if let Some(found) = kept().take(index, None) {
            return Ok(Box::new(found));
        }
        let read = Arc::new(self.read_here(index)?);
        kept().put(index, None, read.clone());
        Ok(Box::new(read))
    }

    fn part_within_here(&self, index: usize, window: Region<K>) -> Result<ReadPart<'_, K>, TreeError> {
        let kept = || self.kept.lock().expect("no reader panics holding it");
        if let Some(found) = kept().take(index, Some(&window)) {
            return Ok(Box::new(found));
        }
        if !self.is_remote() || kept().is_asked_often(index) {
            return self.part_here(index);
        }
        let Some((read, all)) = self.read_partly(index, &window)? else { return self.part_here(index) };
        let read = Arc::new(read);
        kept().put(index, (!all).then_some(window), read.clone());
        Ok(Box::new(read))
    }

    fn together_here(&self, parts: &[usize]) -> usize {
        self.stored.together(parts, self.limit())
    }

    fn meeting_here(&self, window: &Region<K>) -> Result<Vec<usize>, TreeError> {
        window.within(self.plan().domain().size())?;
        if self.is_listed() {
            return Ok(self.listed_meeting(window));
        }
        let coords = self.along.meeting(self.stored.shards.level, window);
        if coords.cells_wide() > MEETING {
            return Ok((0..self.stored.parts.len()).collect());
        }
        let encoding = self.plan().encoding();
        let mut meeting = Vec::new();
        for coords in coords.cells() {
            meeting.push(self.stored.holding(encoding.encode(self.stored.shards.level, coords)));
        }
        meeting.sort_unstable();
        meeting.dedup();
        Ok(meeting)
    }
}

// Every crate that makes a `dyn Parts` of a file compiles these methods, so that they only call.
impl<const K: usize> Parts<K> for TreeFile<K> {
    fn plan(&self) -> &Plan<K> {
        self.plan()
    }

    fn kind(&self) -> CellType {
        self.kind()
    }

    fn parts(&self) -> usize {
        self.stored.parts.len()
    }

    fn part(&self, index: usize) -> Result<ReadPart<'_, K>, TreeError> {
        here!(fn(&TreeFile<K>, usize) -> Result<ReadPart<'_, K>, TreeError> = TreeFile::<K>::part_here)(self, index)
    }

    fn part_within(&self, index: usize, window: &Region<K>) -> Result<ReadPart<'_, K>, TreeError> {
        here!(fn(&TreeFile<K>, usize, Region<K>) -> Result<ReadPart<'_, K>, TreeError> =
            |this, index, window| this.part_within_here(index, window))(self, index, *window)
    }

    fn shard_cells(&self) -> Option<u64> {
        Some(self.stored.header.shard_cells)
    }

    fn together(&self, parts: &[usize]) -> usize {
        here!(fn(&TreeFile<K>, &[usize]) -> usize = TreeFile::<K>::together_here)(self, parts)
    }

    fn list_layout(&self) -> Option<ListLayout> {
        self.stored.layout.clone()
    }

    fn meeting(&self, window: &Region<K>) -> Result<Vec<usize>, TreeError> {
        here!(fn(&TreeFile<K>, &Region<K>) -> Result<Vec<usize>, TreeError> = TreeFile::<K>::meeting_here)(self, window)
    }
}
