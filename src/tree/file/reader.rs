//! Trees from files, shard by shard.

use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::Region;
use crate::plan::Plan;
use crate::result::RegionsChecksum;
use crate::tree::along::Along;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Held;
use crate::tree::file::info::TreeInfo;
use crate::tree::file::recent::RecentParts;
use crate::tree::file::shards::Shards;
use crate::tree::file::store::TreeStore;
use crate::tree::file::stored_shards::StoredShards;
use crate::tree::list::ListLayout;
use crate::tree::parts::Parts;
use crate::tree::stored::{Tree, tiles};
use crate::zarr::CHECKSUMS;

/// Bytes of shards that stay in memory for whoever asks next, unless one says otherwise.
const KEPT: u64 = 1 << 28;

/// Shards that are read together, at most, for each thread.
const MANY: usize = 4;

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
    /// The shards that have regions.
    pub(super) parts: Vec<u64>,
    kept: Mutex<RecentParts<K>>,
    /// Of the tree of a list.
    pub(super) layout: Option<ListLayout>,
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
        let layout = header.layout().map_err(TreeFileError::unfit(&path))?;
        let shards = match &layout {
            Some(layout) => Shards::of_list(&along, layout),
            None => Shards::new(&along, header.shard_cells.max(1)),
        };
        let shards = shards.map_err(TreeFileError::unfit(&path))?;
        let stored = StoredShards::new(store, header, shards, pieces)?;
        let parts = stored.with_rows();
        let kept = Mutex::new(RecentParts::new(KEPT));
        Ok(Self { stored, info, along, parts, kept, layout })
    }

    /// Sets how many bytes of shards stay in memory, instead of 256 MiB. The last shard always stays.
    #[must_use]
    pub fn keep(self, bytes: u64) -> Self {
        self.kept.lock().expect("no reader panics holding it").limit = bytes;
        self
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
        self.layout.as_ref()
    }

    /// True of the tree of a list: leaves have entries instead of bricks, and lie on any level.
    pub fn is_listed(&self) -> bool {
        self.layout.is_some()
    }

    /// Cells in the bricks of leaves; of the tree of a list the entries of its leaves.
    pub fn leaf_cells(&self) -> u64 {
        self.stored.header.shards.leaf_cells.iter().sum()
    }

    /// The keys that a part covers.
    pub(super) fn keys(&self, part: usize) -> Range<u128> {
        let start = |part: usize| self.parts.get(part).map(|&shard| self.stored.shards.keys(shard).start);
        start(part).expect("there is such a part")..start(part + 1).unwrap_or(self.along.whole().end)
    }

    /// The part that holds a key.
    pub(super) fn holding(&self, shard: u64) -> usize {
        self.parts.partition_point(|&first| first <= shard) - 1
    }

    /// Reads a part from the file.
    pub(super) fn read(&self, part: usize) -> Result<Tree<K>, TreeError> {
        here!(fn(&TreeFile<K>, usize) -> Result<Tree<K>, TreeError> = |this, part| this.read_here(part))(self, part)
    }

    fn read_here(&self, part: usize) -> Result<Tree<K>, TreeError> {
        if let Some(layout) = &self.layout {
            return self.read_listed(part, layout);
        }
        let (columns, bricks) = self.stored.shard(self.parts[part], true)?;
        let (keys, entries) = self.entries(part, &columns)?;
        let tree = Tree::tiled(self.along.clone(), keys, entries, bricks)?;
        self.check(part, &tree)?;
        Ok(tree)
    }

    /// Checks the regions and the bricks of a part.
    pub(super) fn check(&self, part: usize, tree: &Tree<K>) -> Result<(), TreeError> {
        let ((shard, held), found) = (self.shard_of(part), tree.checksum());
        match !CHECKSUMS || found == held.checksum {
            true => Ok(()),
            false => {
                let reason = format!("regions with checksum {found}, and the header says {}", held.checksum);
                Err(self.stored.wrong(shard, reason))
            }
        }
    }

    /// The shard that a part is, and what the header says of it.
    pub(super) fn shard_of(&self, part: usize) -> (u64, Held) {
        let shard = self.parts[part];
        (shard, self.stored.held(shard))
    }

    /// What columns say of the regions of a part, which must tile what it covers.
    pub(super) fn entries(&self, part: usize, columns: &Columns) -> Result<(Range<u128>, Entries), TreeError> {
        let (shard, held) = self.shard_of(part);
        let row = |(row, reason)| TreeFileError::Row { path: self.path().to_owned(), shard, row, reason };
        let (entries, cells) = columns.entries(&self.along, self.kind()).map_err(row)?;
        let wrong = |reason| Err(self.stored.wrong(shard, reason));
        if cells != held.cells {
            return wrong(format!("bricks of {cells} cells, and the header says {}", held.cells));
        }
        let keys = self.keys(part);
        if !tiles(&self.along, &entries, &keys) {
            return wrong(format!("{} regions, which do not tile what they should cover", held.rows));
        }
        Ok((keys, entries))
    }

    /// The word of a cell; None of a cell outside the domain.
    ///
    /// # Errors
    /// If its shard cannot be read.
    pub fn word(&self, cell: [u32; K]) -> Result<Option<u64>, TreeError> {
        if !self.plan().domain().region().contains_cell(cell) {
            return Ok(None);
        }
        let level = self.plan().levels()[self.stored.shards.level as usize];
        let code = self.plan().encoding().encode(self.stored.shards.level, level.coords(cell));
        let window = Region { corner: cell, extent: [1; K] };
        Ok(self.part_within(self.holding(self.stored.shards.of_code(code)), &window)?.word(cell))
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
        let limit = self.kept.lock().expect("no reader panics holding it").limit;
        // Shards differ in size: some for each thread, so that fewer threads wait for the largest.
        let some = &parts[..parts.len().min(MANY * rayon::current_num_threads())];
        let mut bytes = 0u64;
        let fit = some.iter().take_while(|&&part| {
            bytes = bytes.saturating_add(self.reading(self.parts[part]));
            bytes <= limit
        });
        fit.count()
    }

    fn meeting_here(&self, window: &Region<K>) -> Result<Vec<usize>, TreeError> {
        window.within(self.plan().domain().size())?;
        if self.layout.is_some() {
            return Ok(self.listed_meeting(window));
        }
        let coords = self.along.meeting(self.stored.shards.level, window);
        if coords.cells_wide() > MEETING {
            return Ok((0..self.parts.len()).collect());
        }
        let encoding = self.plan().encoding();
        let part = |coords| self.holding(self.stored.shards.of_code(encoding.encode(self.stored.shards.level, coords)));
        let mut meeting: Vec<usize> = coords.cells().map(part).collect();
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
        self.parts.len()
    }

    fn part(&self, index: usize) -> Result<ReadPart<'_, K>, TreeError> {
        here!(fn(&TreeFile<K>, usize) -> Result<ReadPart<'_, K>, TreeError> = |this, index| this.part_here(index))(
            self, index,
        )
    }

    fn part_within(&self, index: usize, window: &Region<K>) -> Result<ReadPart<'_, K>, TreeError> {
        here!(fn(&TreeFile<K>, usize, Region<K>) -> Result<ReadPart<'_, K>, TreeError> =
            |this, index, window| this.part_within_here(index, window))(self, index, *window)
    }

    fn shard_cells(&self) -> Option<u64> {
        Some(self.stored.header.shard_cells)
    }

    fn together(&self, parts: &[usize]) -> usize {
        here!(fn(&TreeFile<K>, &[usize]) -> usize = |this, parts| this.together_here(parts))(self, parts)
    }

    fn list_layout(&self) -> Option<ListLayout> {
        self.layout.clone()
    }

    fn meeting(&self, window: &Region<K>) -> Result<Vec<usize>, TreeError> {
        here!(fn(&TreeFile<K>, &Region<K>) -> Result<Vec<usize>, TreeError> = |this, window| this.meeting_here(window))(
            self, window,
        )
    }
}
