//! Trees from files, shard by shard.

use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::cell::CellType;
use crate::dimension::here;
use crate::geometry::Region;
use crate::parallel;
use crate::plan::Plan;
use crate::result::{Cells, MemoryError, RegionsChecksum, Stored};
use crate::tree::along::Along;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::columns::{Columns, ends};
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Header, Held};
use crate::tree::file::info::TreeInfo;
use crate::tree::file::shards::{Array, Shards};
use crate::tree::file::store::{TreeStore, refused};
use crate::tree::parts::Parts;
use crate::tree::stored::{Tree, tiles};
use crate::zarr::{CHECKSUMS, ShardReader, ZarrStore};

/// Bytes of shards that stay in memory for whoever asks next, unless one says otherwise.
const KEPT: u64 = 1 << 28;

/// Regions of the shards' level that a box may meet, so that the shards of each are asked for.
const MEETING: u128 = 1 << 22;

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
    store: ZarrStore,
    header: Header,
    info: TreeInfo,
    along: Along<K>,
    shards: Shards,
    /// The shards that have regions.
    parts: Vec<u64>,
    kept: Mutex<Recent<K>>,
}

/// Parts in memory, the one that was asked for last at the end.
#[derive(Debug)]
struct Recent<const K: usize> {
    parts: Vec<(usize, Arc<Tree<K>>)>,
    limit: u64,
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

    fn new_here(TreeStore { store, header, info }: TreeStore) -> Result<Self, TreeFileError> {
        let path = store.path().to_owned();
        if header.size.len() != K {
            return Err(TreeFileError::Dimensions { path, found: header.size.len(), k: K });
        }
        let along = Along::new(&header.plan::<K>().map_err(refused(&path))?);
        let shards = Shards::new(&along, header.shard_cells.max(1)).map_err(refused(&path))?;
        let wrong = |reason| Err(TreeFileError::Header { path: path.clone(), key: "shards", reason });
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
                path,
                key: "checksum",
                reason: "not the sum of those of the shards".into(),
            });
        }
        for array in Array::ALL {
            store.expect(&array.metadata_name(), &shards.metadata(array, K, header.cell).text())?;
        }
        let parts = (0..shards.count).filter(|&shard| header.held(shard as usize).rows > 0).collect();
        let kept = Mutex::new(Recent { parts: Vec::new(), limit: KEPT });
        Ok(Self { store, header, info, along, shards, parts, kept })
    }

    /// Sets how many bytes of shards stay in memory, instead of 256 MiB. The last shard always stays.
    #[must_use]
    pub fn keep(self, bytes: u64) -> Self {
        self.kept.lock().expect("no reader panics holding it").limit = bytes;
        self
    }

    /// The memory that reading the largest shard takes: its regions and bricks, and its bytes in the file's order
    /// beside them.
    pub fn largest_shard(&self) -> u64 {
        self.parts.iter().map(|&shard| self.reading(shard)).max().unwrap_or(0)
    }

    /// The memory that reading a shard takes.
    fn reading(&self, shard: u64) -> u64 {
        let Held { rows, cells, .. } = self.header.held(shard as usize);
        rows.saturating_mul(Entries::BYTES).saturating_add(cells.saturating_mul(2 * self.kind().bytes()))
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.store.path()
    }

    /// The domain, the scheme and the curve that the regions lie along.
    pub fn plan(&self) -> &Plan<K> {
        self.along.plan()
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.header.cell
    }

    /// What is known of the tree beside its regions.
    pub fn info(&self) -> &TreeInfo {
        &self.info
    }

    /// On each level how many regions are uniform, and how many are leaves.
    pub fn terminals(&self) -> &[[u64; 2]] {
        &self.header.terminals
    }

    /// The checksum of the regions, as [`Tree::checksum`].
    pub fn checksum(&self) -> RegionsChecksum {
        self.header.checksum
    }

    /// The number of shards, some of which may have no regions.
    pub fn shards(&self) -> u64 {
        self.shards.count
    }

    /// The number of terminal regions.
    #[allow(clippy::len_without_is_empty, reason = "a domain has cells, and a tree covers them")]
    pub fn len(&self) -> u64 {
        self.header.shards.rows.iter().sum()
    }

    /// Cells in the bricks of leaves.
    pub fn leaf_cells(&self) -> u64 {
        self.header.shards.leaf_cells.iter().sum()
    }

    /// The keys that a part covers.
    fn keys(&self, part: usize) -> Range<u128> {
        let start = |part: usize| self.parts.get(part).map(|&shard| self.shards.keys(shard).start);
        start(part).expect("there is such a part")..start(part + 1).unwrap_or(self.along.whole().end)
    }

    /// The part that holds a key.
    fn holding(&self, shard: u64) -> usize {
        self.parts.partition_point(|&first| first <= shard) - 1
    }

    /// Reads a part from the file.
    fn read(&self, part: usize) -> Result<Tree<K>, TreeError> {
        here!(fn(&TreeFile<K>, usize) -> Result<Tree<K>, TreeError> = |this, part| this.read_here(part))(self, part)
    }

    fn read_here(&self, part: usize) -> Result<Tree<K>, TreeError> {
        let shard = self.parts[part];
        let held = self.header.held(shard as usize);
        let columns = self.columns(shard, held.rows)?;
        let path = || self.path().to_owned();
        let row = |(row, reason)| TreeFileError::Row { path: path(), shard, row, reason };
        let (entries, cells) = columns.entries(&self.along, self.kind()).map_err(row)?;
        let wrong = |reason| TreeFileError::Shard { path: path(), shard, reason };
        if cells != held.cells {
            return Err(wrong(format!("bricks of {cells} cells, and the header says {}", held.cells)).into());
        }
        let keys = self.keys(part);
        if !tiles(&self.along, &entries, &keys) {
            return Err(wrong(format!("{} regions, which do not tile what they should cover", held.rows)).into());
        }
        let bricks = self.bricks(shard, cells)?;
        let tree = Tree::tiled(self.along.clone(), keys, entries, bricks)?;
        let found = tree.checksum();
        if CHECKSUMS && found != held.checksum {
            return Err(wrong(format!("regions with checksum {found}, and the header says {}", held.checksum)).into());
        }
        Ok(tree)
    }

    /// The bytes of some elements of a shard.
    fn elements(&self, array: Array, shard: u64, run: Range<u64>) -> Result<Vec<u8>, TreeFileError> {
        let mut bytes = Vec::new();
        self.array(array, shard)?.elements(run, &mut bytes)?;
        Ok(bytes)
    }

    fn array(&self, array: Array, shard: u64) -> Result<ShardReader, TreeFileError> {
        let member = self.store.need(&array.shard_name(shard))?;
        Ok(ShardReader::open(member, &self.shards.metadata(array, K, self.kind()))?)
    }

    /// The rows of a shard but for the greatest values, which nothing but a check asks for.
    fn columns(&self, shard: u64, rows: u64) -> Result<Columns, TreeFileError> {
        let positions = self.array(Array::Position, shard)?;
        let axis = |axis: usize| -> Result<Vec<u32>, TreeFileError> {
            let (mut bytes, first) = (Vec::new(), self.shards.position(axis));
            positions.elements(first..first + rows, &mut bytes)?;
            Ok(numbers(&bytes, u32::from_le_bytes))
        };
        Ok(Columns {
            level: self.elements(Array::Level, shard, 0..rows)?,
            position: (0..K).map(axis).collect::<Result<_, _>>()?,
            provenance: self.elements(Array::Provenance, shard, 0..rows)?,
            value: self.words(Array::Value, shard, rows)?,
            largest: Vec::new(),
            brick: numbers(&self.elements(Array::Brick, shard, 0..rows)?, i64::from_le_bytes),
        })
    }

    /// The words of a column of values.
    fn words(&self, array: Array, shard: u64, rows: u64) -> Result<Vec<u64>, TreeFileError> {
        let bytes = self.elements(array, shard, 0..rows)?;
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
        Ok(bytes.chunks_exact(self.kind().bytes() as usize).map(word).collect())
    }

    /// The bricks of a shard.
    fn bricks(&self, shard: u64, cells: u64) -> Result<Cells, TreeError> {
        let mut bricks = Cells::empty(self.kind());
        if cells > 0 {
            let bytes = self.elements(Array::Cells, shard, 0..cells)?;
            bricks = Cells::zeroed(self.kind(), cells as usize)?;
            bricks.store(0, &bytes);
        }
        Ok(bricks)
    }

    /// The word of a cell; None of a cell outside the domain.
    ///
    /// # Errors
    /// If its shard cannot be read.
    pub fn word(&self, cell: [u32; K]) -> Result<Option<u64>, TreeError> {
        if !self.plan().domain().region().contains_cell(cell) {
            return Ok(None);
        }
        let level = self.plan().levels()[self.shards.level as usize];
        let code = self.plan().encoding().encode(self.shards.level, level.coords(cell));
        Ok(self.part(self.holding(self.shards.of_code(code)))?.word(cell))
    }

    /// Reads the whole tree, with at most so many bytes for regions and bricks.
    ///
    /// # Errors
    /// [`TreeError::Run`] if it would take more, before anything is read, or there is no memory; [`TreeError::File`].
    pub fn tree(&self, limit: Option<u64>) -> Result<Tree<K>, TreeError> {
        let rows = u128::from(self.len()) * u128::from(Entries::BYTES);
        let need = rows + u128::from(self.leaf_cells()) * u128::from(self.kind().bytes());
        if let Some(limit) = limit.filter(|&limit| need > limit.into()) {
            return Err(MemoryError { what: Stored::Terminals, need, limit: Some(limit) }.into());
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

    /// Checks everything in the file. Every shard must be what the header says. The least and the greatest value of a
    /// leaf must be those of its brick. There must be as many regions as the header says. In a zip both descriptions of
    /// a member must agree, and its checksum must be right.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn validate(&self) -> Result<(), TreeError> {
        here!(fn(&TreeFile<K>) -> Result<(), TreeError> = |this| this.validate_here())(self)
    }

    fn validate_here(&self) -> Result<(), TreeError> {
        self.store.audit().map_err(TreeFileError::from)?;
        let mut terminals = vec![[0; 2]; self.terminals().len()];
        let parts: Vec<usize> = (0..self.parts.len()).collect();
        for some in parts.chunks(self.at_once()) {
            for found in parallel::map(some.len(), &|i| self.validate_part(some[i])) {
                for (sum, here) in terminals.iter_mut().zip(found?) {
                    *sum = [sum[0] + here[0], sum[1] + here[1]];
                }
            }
        }
        if terminals != self.terminals() {
            let (path, reason) = (self.path().to_owned(), format!("{:?}; there are {terminals:?}", self.terminals()));
            return Err(TreeFileError::Header { path, key: "terminals", reason }.into());
        }
        Ok(())
    }
}

impl<const K: usize> TreeFile<K> {
    /// Checks a shard; on each level how many of its regions are uniform and how many are leaves.
    fn validate_part(&self, part: usize) -> Result<Vec<[u64; 2]>, TreeError> {
        let (shard, tree) = (self.parts[part], self.read(part)?);
        let mut terminals = vec![[0; 2]; self.terminals().len()];
        let rows = tree.len() as u64;
        let (least, greatest) = (self.words(Array::Value, shard, rows)?, self.words(Array::Largest, shard, rows)?);
        for row in 0..tree.len() {
            terminals[tree.entries.level(row) as usize][usize::from(tree.entries.is_leaf(row))] += 1;
            let (found, expected) = ([least[row], greatest[row]], ends(&tree, row));
            if found != expected {
                let text = |words: [u64; 2]| words.map(|word| self.kind().text(word)).join(" to ");
                let reason = format!("values {}, where its cells have {}", text(found), text(expected));
                return Err(TreeFileError::Row { path: self.path().to_owned(), shard, row, reason }.into());
            }
        }
        Ok(terminals)
    }
}

/// Numbers of their bytes.
fn numbers<const N: usize, T>(bytes: &[u8], of: fn([u8; N]) -> T) -> Vec<T> {
    bytes.as_chunks::<N>().0.iter().map(|&bytes| of(bytes)).collect()
}

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

    fn part(&self, index: usize) -> Result<Box<dyn Deref<Target = Tree<K>> + '_>, TreeError> {
        let take = || {
            let kept = &mut self.kept.lock().expect("no reader panics holding it").parts;
            let at = kept.iter().position(|(part, _)| *part == index)?;
            // The one that was asked for last is the last to go.
            let found = kept.remove(at);
            kept.push(found.clone());
            Some(found.1)
        };
        if let Some(found) = take() {
            return Ok(Box::new(found));
        }
        let read = Arc::new(self.read(index)?);
        let kept = &mut *self.kept.lock().expect("no reader panics holding it");
        kept.parts.push((index, read.clone()));
        let mut bytes: u64 = kept.parts.iter().map(|(_, tree)| tree.bytes()).sum();
        while bytes > kept.limit && kept.parts.len() > 1 {
            bytes -= kept.parts.remove(0).1.bytes();
        }
        Ok(Box::new(read))
    }

    fn at_once(&self) -> usize {
        let limit = self.kept.lock().expect("no reader panics holding it").limit;
        let fit = limit.checked_div(self.largest_shard()).unwrap_or(1);
        fit.clamp(1, rayon::current_num_threads() as u64) as usize
    }

    fn meeting(&self, window: &Region<K>) -> Result<Vec<usize>, TreeError> {
        window.within(self.plan().domain().size())?;
        let coords = self.along.meeting(self.shards.level, window);
        if coords.cells_wide() > MEETING {
            return Ok((0..self.parts.len()).collect());
        }
        let encoding = self.plan().encoding();
        let part = |coords| self.holding(self.shards.of_code(encoding.encode(self.shards.level, coords)));
        let mut meeting: Vec<usize> = coords.cells().map(part).collect();
        meeting.sort_unstable();
        meeting.dedup();
        Ok(meeting)
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
