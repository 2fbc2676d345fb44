//! The shards that a part of a tree covers, and the files of each, wherever they are made.

use std::ops::Range;
use std::path::Path;

use crate::backend::Control;
use crate::cell::CellType;
use crate::disk::PartFolder;
use crate::plan::Plan;
use crate::tree::along::Along;
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Held;
use crate::tree::file::shard_files::{ShardCells, ShardFiles};
use crate::tree::file::shards::Shards;
use crate::tree::file::staged::FinishedShard;
use crate::tree::stored::Tree;

/// Makes the files of a tree's shards in a folder.
pub(super) struct ShardMaker<'a, const K: usize> {
    /// The tree, to name it in errors.
    pub(super) path: &'a Path,
    pub(super) along: &'a Along<K>,
    pub(super) kind: CellType,
    pub(super) shards: &'a Shards,
    pub(super) folder: &'a PartFolder,
    pub(super) control: Option<&'a Control>,
}

impl<const K: usize> ShardMaker<'_, K> {
    /// The shards that a part covers and that have rows, with these rows. A shard that a region before it covers has none.
    ///
    /// # Errors
    /// [`TreeFileError::Part`] if it is no part of whole shards of this tree.
    pub(super) fn covered(&self, part: &Tree<K>) -> Result<Vec<(u64, Range<usize>)>, TreeFileError> {
        self.fits(part)?;
        let first = self.shards.from(part.codes().start);
        let last = self.shards.from(part.codes().end).min(self.shards.count);
        let row = |key: u128| part.entries.keys.partition_point(|&first| u128::from(first) < key);
        let rows = |shard: u64| {
            let keys = self.shards.keys(shard);
            row(keys.start)..row(keys.end)
        };
        Ok((first..last).map(|shard| (shard, rows(shard))).filter(|(_, rows)| !rows.is_empty()).collect())
    }

    /// Checks that the tree is one of this plan.
    pub(super) fn is_of(&self, plan: &Plan<K>) -> Result<(), TreeFileError> {
        let facts = |plan: &Plan<K>| (*plan.domain(), *plan.scheme(), plan.curve(), plan.rule());
        if facts(plan) == facts(self.along.plan()) {
            return Ok(());
        }
        Err(TreeFileError::Part { path: self.path.to_owned(), reason: "a part of another plan".into() })
    }

    /// Checks that a part is one of whole shards of this tree.
    fn fits(&self, part: &Tree<K>) -> Result<(), TreeFileError> {
        let refused = |reason: String| Err(TreeFileError::Part { path: self.path.to_owned(), reason });
        self.is_of(part.plan())?;
        if part.kind() != self.kind {
            return refused(format!("a part with cells of {}, where the tree has {}", part.kind(), self.kind));
        }
        if part.is_listed() != self.shards.are_listed() {
            let what = |listed| if listed { "the tree of a list" } else { "a tree with bricks" };
            return refused(format!("a part of {} in {}", what(part.is_listed()), what(self.shards.are_listed())));
        }
        let codes = part.codes();
        let ends = codes.end == self.along.whole().end || self.shards.begins(codes.end);
        if !self.shards.begins(codes.start) || !ends {
            return refused(format!(
                "a part with the codes {}..{} of the deepest level, which are no whole shards",
                codes.start, codes.end
            ));
        }
        Ok(())
    }

    /// Writes the files of a shard, which has these rows of a part.
    ///
    /// # Errors
    /// [`TreeError::File`] if the system says no; [`TreeError::Run`] if the control does, or there is no memory.
    pub(super) fn put(&self, shard: u64, part: &Tree<K>, rows: Range<usize>) -> Result<FinishedShard, TreeError> {
        let (columns, bricks) = Columns::of(part, rows.clone())?;
        let levels = self.along.plan().levels().len();
        let (mut terminals, mut filled) = (vec![[0; 2]; levels], vec![0; levels]);
        for row in rows.clone() {
            let (level, leaf) = (part.entries.level(row), part.entries.is_leaf(row));
            terminals[level as usize][usize::from(leaf)] += 1;
            if !leaf {
                let cells = self.along.volume(level, part.entries.keys[row]);
                filled[level as usize] = u64::saturating_add(filled[level as usize], cells);
            }
        }
        let held =
            Held { rows: rows.len() as u64, cells: bricks.len() as u64, checksum: part.checksum_of(rows.clone()) };
        let last = rows.end - 1;
        let end = self.along.run(part.entries.level(last), part.entries.keys[last]).end;
        let hear = || self.control.map_or(Ok(()), Control::check);
        let write = ShardFiles { shard, shards: self.shards, kind: self.kind, folder: self.folder, hear: &hear };
        let cells = match &part.list {
            None => ShardCells { cells: part.bricks(), places: &[], range: bricks },
            Some(list) => ShardCells { cells: &list.words, places: &list.places, range: bricks },
        };
        let files = write.all(&held, &columns, cells)?;
        Ok(FinishedShard { shard, end, held, terminals, filled, files })
    }
}
