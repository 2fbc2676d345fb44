//! What is written of a tree, however many axes it has.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use crate::backend::{Control, Error};
use crate::cell::CellType;
use crate::disk::Folder;
use crate::result::{LevelCounts, RegionsChecksum};
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::{Attributes, Header, Held, add_terminals};
use crate::tree::file::making::{ShardMaker, ShardRows};
use crate::tree::file::sealed::SealedTree;
use crate::tree::file::shards::{Array, Shards};
use crate::tree::file::staged::{FinishedShard, Staged};
use crate::tree::tree_rows::TreeRows;
use crate::zarr;

/// A tree of which some shards are finished.
#[derive(Debug)]
pub(super) struct WrittenTree {
    pub(super) path: PathBuf,
    pub(super) zip: bool,
    pub(super) overwrite: bool,
    pub(super) kind: CellType,
    pub(super) header: Header,
    pub(super) shards: Shards,
    /// What each finished shard holds.
    pub(super) done: Vec<Option<Held>>,
    pub(super) terminals: Vec<[u64; 2]>,
    /// On each level the cells of uniform regions.
    pub(super) filled: Vec<u64>,
    pub(super) control: Option<Arc<Control>>,
    pub(super) staged: Staged,
}

impl WrittenTree {
    /// On each level what is counted in the shards that are finished.
    pub(super) fn counts(&self) -> Vec<LevelCounts> {
        let level = |(&[filled, leaves], &filled_cells): (&[u64; 2], &u64)| LevelCounts {
            filled,
            leaves,
            filled_cells,
            ..LevelCounts::default()
        };
        let mut found: Vec<LevelCounts> = self.terminals.iter().zip(&self.filled).map(level).collect();
        // Leaves are of the deepest level.
        found.last_mut().expect("there is a level").leaf_cells = self.held().map(|held| held.cells).sum();
        found
    }

    /// The checksum of the regions in the shards that are finished.
    pub(super) fn checksum(&self) -> RegionsChecksum {
        self.held().map(|held| held.checksum).sum()
    }

    /// What the shards hold that are finished.
    pub(super) fn held(&self) -> impl Iterator<Item = &Held> {
        self.done.iter().flatten()
    }

    pub(super) fn is_done(&self, shard: u64) -> bool {
        self.done[shard as usize].is_some()
    }

    /// Writes the shards that a part covers, except those that are finished.
    pub(super) fn write(&mut self, order: &CurveOrder, part: &dyn TreeRows) -> Result<(), TreeError> {
        let open = self.open_of(order, part)?;
        // Where a later process may go on, what is finished is said now and then.
        let together = if self.staged.is_resumable() { rayon::current_num_threads() } else { open.len().max(1) };
        for some in open.chunks(together) {
            let made = self.maker(order).put(part, some)?;
            self.take_note(&made)?;
        }
        Ok(())
    }

    /// Makes the files of the shards that a part covers and that are not finished. Whoever does has to [take note](Self::take_note) of
    /// them.
    pub(super) fn make(&self, order: &CurveOrder, part: &dyn TreeRows) -> Result<Vec<FinishedShard>, TreeError> {
        self.maker(order).put(part, &self.open_of(order, part)?)
    }

    /// The shards that a part covers and that are not finished, with their rows.
    fn open_of(&self, order: &CurveOrder, part: &dyn TreeRows) -> Result<Vec<ShardRows>, TreeError> {
        let mut open = self.maker(order).covered(part)?;
        open.retain(|&(shard, _)| !self.is_done(shard));
        Ok(open)
    }

    fn maker<'a>(&'a self, order: &'a CurveOrder) -> ShardMaker<'a> {
        ShardMaker {
            path: &self.path,
            order,
            kind: self.kind,
            shards: &self.shards,
            folder: self.staged.part(),
            control: self.control.as_deref(),
        }
    }

    /// Takes note of shards that were made, and writes it down for a process that resumes.
    pub(super) fn take_note(&mut self, made: &[FinishedShard]) -> Result<(), TreeError> {
        for finished in made {
            self.staged.finish(finished)?;
            self.account(finished);
        }
        Ok(())
    }

    /// Takes note of a finished shard, and of those that its last region covers.
    pub(super) fn account(&mut self, finished: &FinishedShard) {
        self.done[finished.shard as usize] = Some(finished.held);
        let covered = finished.shard + 1..self.shards.from(finished.end).min(self.shards.count);
        covered.for_each(|shard| self.done[shard as usize] = Some(Held::default()));
        add_terminals(&mut self.terminals, &finished.terminals);
        for (sum, here) in self.filled.iter_mut().zip(&finished.filled) {
            *sum = u64::saturating_add(*sum, *here);
        }
    }

    /// Takes finished shards whose files are in another folder.
    ///
    /// # Errors
    /// [`TreeError::File`] if they are not what was written, or the system says no; [`TreeError::Run`] if the control does.
    pub(super) fn take(&mut self, from: &Folder, shards: &[FinishedShard]) -> Result<(), TreeError> {
        for finished in shards {
            if !self.is_done(finished.shard) {
                self.check()?;
                self.staged.copy(from, finished)?;
                self.staged.finish(finished)?;
                self.account(finished);
            }
        }
        Ok(())
    }

    /// Fails if the writing was cancelled.
    pub(super) fn check(&self) -> Result<(), Error> {
        self.control.as_ref().map_or(Ok(()), |control| control.check())
    }

    /// Writes the header, and brings all of the tree to the disk.
    pub(super) fn seal(self) -> Result<SealedTree, TreeError> {
        let Self { path, zip, overwrite, kind, header, shards, done, terminals, staged, .. } = self;
        let Some(held) = done.iter().copied().collect::<Option<Vec<Held>>>() else {
            let shard = done.iter().position(Option::is_none).expect("one is missing") as u64;
            let missing = done.iter().filter(|held| held.is_none()).count();
            let reason = format!("not written yet, as {missing} of {} are", shards.count);
            return Err(TreeFileError::Shard { path, shard, reason }.into());
        };
        for &array in Array::of_tree(shards.are_listed()) {
            let text = shards.metadata(array, header.size.len(), kind).text();
            staged.file(&array.metadata_name(), |file| file.write_all(text.as_bytes()))?;
        }
        let text = zarr::group(&Attributes { orthant_tree: header.with(&held, terminals) });
        staged.file("zarr.json", |file| file.write_all(text.as_bytes()))?;
        staged.seal(zip)?;
        Ok(SealedTree { staged, zip, overwrite })
    }
}
