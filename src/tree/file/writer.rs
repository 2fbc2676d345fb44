//! Trees into files, shard by shard.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::backend::Control;
use crate::cell::CellType;
use crate::dimension::here;
use crate::plan::Plan;
use crate::result::{RegionsChecksum, RunCounts};
use crate::tree::along::Along;
use crate::tree::census::run_counts;
use crate::tree::curve_order::CurveRegions;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Header;
use crate::tree::file::info::TreeInfo;
use crate::tree::file::making::are_equal;
use crate::tree::file::sealed::SealedTree;
use crate::tree::file::shards::{CELLS, Shards};
use crate::tree::file::staged::{FinishedShard, Staged};
use crate::tree::file::written_tree::WrittenTree;
use crate::tree::list::ListLayout;
use crate::tree::parts::Parts;
use crate::tree::stored::Tree;

/// Where a tree goes, and how: what a [`TreeWriter`] is opened with.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::{TreeFile, TreeInfo, TreeTarget};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = std::env::temp_dir().join(format!("orthant-doc-target-{}", std::process::id()));
/// # std::fs::create_dir_all(&folder)?;
/// # let path = folder.join("disc.tree.zarr.zip");
/// let plan = Plan::builder([64, 64])
///     .scheme(Scheme::uniform(4, 2, 2))
///     .curve(CurveKind::Hilbert)
///     .rule(RuleKind::Full)
///     .build()?;
/// let disc = CellField::new(1, |[x, y]| u32::from((x * x + y * y) < 1000));
/// let tree = Tree::of(Run::new(&plan, &disc).how(How::default().keep(Keep::Regions)).start()?)?;
///
/// let target = TreeTarget::new(&path).overwrite(true);
/// let mut writer = target.open(tree.plan(), tree.kind(), &TreeInfo::of(&plan).source("disc"))?;
/// writer.write(&tree)?;
/// writer.finish()?;
/// assert_eq!(TreeFile::<2>::open(&path)?.tree(None)?, tree);
/// # std::fs::remove_dir_all(&folder)?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct TreeTarget {
    path: PathBuf,
    zip: bool,
    overwrite: bool,
    made_of: Option<String>,
    shard_cells: u64,
    rows_at_once: Option<usize>,
    list: Option<ListLayout>,
}

impl TreeTarget {
    /// A folder if the name ends in `.tree.zarr`, and one file if it ends in `.tree.zarr.zip`. What is there is not replaced.
    pub fn new(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref().to_owned();
        let zip = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("zip"));
        Self { path, zip, overwrite: false, made_of: None, shard_cells: CELLS, rows_at_once: None, list: None }
    }

    /// If true, the finished tree replaces what is there: a file, or a folder that is a tree. What a killed process
    /// left of another tree is removed at once.
    #[must_use]
    pub fn overwrite(self, overwrite: bool) -> Self {
        Self { overwrite, ..self }
    }

    /// With what the tree is made of, in words that change whenever the data does:
    /// `ArrayFile::identity` of an array in files, say. Finished shards then stay
    /// when a process ends before the tree is complete. The next process that opens the target for the same tree of the same data
    /// resumes it.
    #[must_use]
    pub fn made_of(self, what: impl Into<String>) -> Self {
        Self { made_of: Some(what.into()), ..self }
    }

    /// Sets about how many cells a shard has; the default is 2^25, or more where there would be too many shards. A shard has one file per array, and is in memory as
    /// a whole.
    #[must_use]
    pub fn shard_cells(self, cells: u64) -> Self {
        Self { shard_cells: cells.max(1), ..self }
    }

    /// Sets about how many regions of a run [`write_run`](super::write_run) writes at a time; of several writers the first decides. The
    /// default follows from their bricks.
    #[doc(hidden)]
    #[must_use]
    pub fn rows_at_once(self, rows: usize) -> Self {
        Self { rows_at_once: Some(rows.max(1)), ..self }
    }

    /// With shards as large as those of a tree that is copied, so that its parts are whole shards.
    #[must_use]
    pub fn like<const K: usize>(self, parts: &dyn Parts<K>) -> Self {
        let list = parts.list_layout();
        Self { shard_cells: parts.shard_cells().unwrap_or(self.shard_cells), list, ..self }
    }

    /// For the tree of a list, with these shards. With [`made_of`](Self::made_of) the next process resumes it: the same list has the same
    /// layout.
    #[must_use]
    pub fn listed(self, layout: ListLayout) -> Self {
        Self { list: Some(layout), ..self }
    }

    /// Opens the target for a tree of `plan`, with cells of type `kind`. The tree lies along the plan's curve, or along
    /// Morton's if that is canonical.
    ///
    /// # Errors
    /// [`TreeError::File`] if the name says nothing of a tree, something is there already, somebody else writes it, a killed process left
    /// finished shards of another tree there, `info` cannot be said, there would be too many shards, or the system says no.
    pub fn open<const K: usize>(
        &self,
        plan: &Plan<K>,
        kind: CellType,
        info: &TreeInfo,
    ) -> Result<TreeWriter<K>, TreeError> {
        here!(fn(&TreeTarget, &Plan<K>, CellType, &TreeInfo) -> Result<TreeWriter<K>, TreeError> = TreeTarget::open_here)(
            self, plan, kind, info,
        )
    }

    fn open_here<const K: usize>(
        &self,
        plan: &Plan<K>,
        kind: CellType,
        info: &TreeInfo,
    ) -> Result<TreeWriter<K>, TreeError> {
        self.check(K, kind, info)?;
        let along = Along::new(plan);
        let written = self.begin(&along, Header::new(along.plan(), kind, info))?;
        Ok(TreeWriter { along, written, rows_at_once: self.rows_at_once })
    }

    /// Checks the name, and what is known of the tree beside its regions.
    fn check(&self, axes: usize, kind: CellType, info: &TreeInfo) -> Result<(), TreeFileError> {
        let path = &self.path;
        let name = path.file_name().map(|name| name.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
        let stem = if self.zip { ".tree.zarr.zip" } else { ".tree.zarr" };
        if !name.ends_with(stem) || name == stem {
            return Err(TreeFileError::Name { path: path.clone() });
        }
        info.check(axes, kind).map_err(TreeFileError::unfit(path))
    }

    /// Begins the tree of a header, or resumes it.
    fn begin(&self, regions: &dyn CurveRegions, header: Header) -> Result<WrittenTree, TreeError> {
        let Self { path, zip, overwrite, .. } = self.clone();
        let unfit = TreeFileError::unfit(&path);
        let (shards, header) = match &self.list {
            Some(layout) => (Shards::of_list(regions.order(), layout).map_err(unfit)?, header.listed(layout)),
            None => {
                let (shards, cells) = Shards::fitting(regions, self.shard_cells).map_err(unfit)?;
                (shards, header.sharded(cells))
            }
        };
        let (staged, found) = Staged::new(&path, &header, self.made_of.as_deref(), overwrite)?;
        let levels = header.terminals.len();
        let mut written = WrittenTree {
            path,
            zip,
            overwrite,
            kind: header.cell,
            header,
            done: vec![None; shards.count as usize],
            terminals: vec![[0; 2]; levels],
            filled: vec![0; levels],
            control: None,
            shards,
            staged,
        };
        found.iter().for_each(|finished| written.account(finished));
        Ok(written)
    }
}

/// Writes a tree into a folder of files or into one file: a group of Zarr v3 arrays, which the
/// [guide](crate::guide::tree) describes.
///
/// Write the tree in parts, in any order, each of whole shards. The target's name appears when [`finish`](Self::finish)
/// is done, not before. Equal trees have equal files, to the byte.
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::{BottomUp, TreeFile, TreeInfo, TreeTarget};
///
/// # let path = std::env::temp_dir().join(format!("orthant-doc-writer-{}.tree.zarr.zip", std::process::id()));
/// let image = Array2::from_shape_fn((64, 64), |(_, x)| u8::from(x < 32));
/// let source = ArrayField::new(image.view())?;
/// let plan = Plan::builder([64, 64]).scheme(Scheme::uniform(4, 2, 4)).rule(RuleKind::Full).build()?;
/// let making = BottomUp::new(&plan, &source)?;
/// // Four shards of 1024 cells, made and written one at a time, the last first.
/// let target = TreeTarget::new(&path).shard_cells(1024);
/// let mut writer = target.open(&plan, orthant::CellType::U8, &TreeInfo::of(&plan))?;
/// assert_eq!(writer.shards(), 4);
/// for shard in (0..writer.shards()).rev() {
///     let (level, codes) = writer.codes(shard);
///     writer.write(&making.part(level, codes)?)?;
/// }
/// writer.finish()?;
/// assert_eq!(TreeFile::<2>::open(&path)?.tree(None)?, making.tree()?);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TreeWriter<const K: usize> {
    pub(super) along: Along<K>,
    pub(super) written: WrittenTree,
    pub(super) rows_at_once: Option<usize>,
}

impl<const K: usize> TreeWriter<K> {
    /// Lets `control` cancel the writing.
    #[must_use]
    pub fn control(mut self, control: Arc<Control>) -> Self {
        self.written.control = Some(control);
        self
    }

    /// What is counted in the shards that are finished, as a run from the cells up counts it, and their checksum.
    pub fn counts(&self) -> (RunCounts<K>, RegionsChecksum) {
        here!(fn(&TreeWriter<K>) -> (RunCounts<K>, RegionsChecksum) = TreeWriter::<K>::counts_here)(self)
    }

    fn counts_here(&self) -> (RunCounts<K>, RegionsChecksum) {
        (run_counts(self.along.plan(), self.written.counts()), self.checksum())
    }

    /// The checksum of the regions in the shards that are finished.
    pub fn checksum(&self) -> RegionsChecksum {
        self.written.checksum()
    }

    /// The folder in which the tree is made.
    pub fn staged(&self) -> PathBuf {
        self.written.staged.path()
    }

    /// The number of shards.
    pub fn shards(&self) -> u64 {
        self.written.shards.count
    }

    /// The number of finished shards, including those that an earlier process finished.
    pub fn done(&self) -> u64 {
        self.written.held().count() as u64
    }

    /// True if a shard is finished.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn is_done(&self, shard: u64) -> bool {
        self.written.is_done(shard)
    }

    /// The level and the codes that a shard covers, along the tree's curve.
    ///
    /// # Panics
    /// If there is no such shard.
    pub fn codes(&self, shard: u64) -> (u32, Range<u128>) {
        let shards = &self.written.shards;
        assert!(shard < shards.count, "shard {shard} of {}", shards.count);
        (shards.level, shards.codes(shard))
    }

    /// Writes the shards that a part of the tree covers, except those that are finished. The threads of the caller's
    /// rayon pool share the work.
    ///
    /// # Errors
    /// [`TreeError::File`] if the part is of another tree, begins or ends within a shard, or the system says no.
    pub fn write(&mut self, part: &Tree<K>) -> Result<(), TreeError> {
        here!(fn(&mut TreeWriter<K>, &Tree<K>) -> Result<(), TreeError> = TreeWriter::<K>::write_here)(self, part)
    }

    fn write_here(&mut self, part: &Tree<K>) -> Result<(), TreeError> {
        self.is_of(part.plan())?;
        self.written.write(&self.along, part)
    }

    /// Makes the files of the shards that a part covers and that are not finished. The writer has to
    /// [take note](WrittenTree::take_note) of them.
    pub(super) fn make(&self, part: &Tree<K>) -> Result<Vec<FinishedShard>, TreeError> {
        self.is_of(part.plan())?;
        self.written.make(&self.along, part)
    }

    /// Checks that the tree is one of this plan.
    pub(super) fn is_of(&self, plan: &Plan<K>) -> Result<(), TreeFileError> {
        are_equal(&self.written.path, self.along.plan(), plan)
    }

    /// Ends without a tree, and removes the finished shards. Use it if the data changed while it was read, for example.
    pub fn discard(self) {
        self.written.staged.discard();
    }

    /// Writes the header, and gives the tree its name.
    ///
    /// # Errors
    /// [`TreeError::File`] if shards are missing, something took the name meanwhile, or the system says no.
    pub fn finish(self) -> Result<(), TreeError> {
        self.seal()?.place()
    }

    /// Writes the header, and brings all of the tree to the disk. [`SealedTree::place`] then gives it its name.
    ///
    /// # Errors
    /// [`TreeError::File`] if shards are missing, or the system says no.
    pub fn seal(self) -> Result<SealedTree, TreeError> {
        self.written.seal()
    }
}
