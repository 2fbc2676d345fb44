//! The shards that a part of a tree covers, and the files of each, wherever they are made.

use std::ops::Range;
use std::path::Path;

use crate::backend::Control;
use crate::cell::CellType;
use crate::disk::PartFolder;
use crate::parallel;
use crate::plan::Plan;
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::columns::Columns;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::Held;
use crate::tree::file::shard_files::{ShardCells, ShardFiles};
use crate::tree::file::shards::Shards;
use crate::tree::file::staged::FinishedShard;
use crate::tree::tree_rows::TreeRows;

/// A shard that has rows, and which of a part they are.
pub(super) type ShardRows = (u64, Range<usize>);

/// Makes the files of a tree's shards in a folder.
pub(super) struct ShardMaker<'a> {
    /// The tree, to name it in errors.
    pub(super) path: &'a Path,
    pub(super) order: &'a CurveOrder,
    pub(super) kind: CellType,
    pub(super) shards: &'a Shards,
    pub(super) folder: &'a PartFolder,
    pub(super) control: Option<&'a Control>,
}

/// Checks that a part is one of a tree's plan.
pub(super) fn are_equal<const K: usize>(path: &Path, own: &Plan<K>, given: &Plan<K>) -> Result<(), TreeFileError> {
    let facts = |plan: &Plan<K>| (*plan.domain(), *plan.scheme(), plan.curve(), plan.rule());
    if facts(given) == facts(own) {
        return Ok(());
    }
    Err(TreeFileError::Part { path: path.to_owned(), reason: "a part of another plan".into() })
}

impl ShardMaker<'_> {
    /// The shards that a part covers and that have rows, with these rows. A shard that a region before it covers has none.
    ///
    /// # Errors
    /// [`TreeFileError::Part`] if it is not of whole shards of a tree like this.
    pub(super) fn covered(&self, part: &dyn TreeRows) -> Result<Vec<ShardRows>, TreeFileError> {
        self.fits(part)?;
        let first = self.shards.from(part.codes().start);
        let last = self.shards.from(part.codes().end).min(self.shards.count);
        let keys = &part.entries().keys;
        let rows = |shard: u64| self.shards.rows_of(shard, keys);
        Ok((first..last).map(|shard| (shard, rows(shard))).filter(|(_, rows)| !rows.is_empty()).collect())
    }

    /// Checks that a part is one of whole shards, with cells of this tree's type.
    fn fits(&self, part: &dyn TreeRows) -> Result<(), TreeFileError> {
        let refused = |reason: String| Err(TreeFileError::Part { path: self.path.to_owned(), reason });
        let kind = part.bricks().kind();
        if kind != self.kind {
            return refused(format!("a part with cells of {kind}, where the tree has {}", self.kind));
        }
        if part.list().is_some() != self.shards.are_listed() {
            let what = |listed| if listed { "the tree of a list" } else { "a tree with bricks" };
            let (given, own) = (what(part.list().is_some()), what(self.shards.are_listed()));
            return refused(format!("a part of {given} in {own}"));
        }
        let codes = part.codes();
        let ends = codes.end == self.order.whole().end || self.shards.begins(codes.end);
        if !self.shards.begins(codes.start) || !ends {
            return refused(format!(
                "a part with the codes {}..{} of the deepest level, which are no whole shards",
                codes.start, codes.end
            ));
        }
        Ok(())
    }

    /// Writes the files of some shards of a part.
    ///
    /// # Errors
    /// [`TreeError::File`] if the system says no; [`TreeError::Run`] if the control does, or there is no memory.
    pub(super) fn put(&self, part: &dyn TreeRows, some: &[ShardRows]) -> Result<Vec<FinishedShard>, TreeError> {
        let put = parallel::try_map(some.len(), &|i| self.put_one(some[i].0, part, some[i].1.clone()));
        // What failed since it was cancelled is no failure of the file.
        self.control.map_or(Ok(()), Control::check)?;
        put
    }

    fn put_one(&self, shard: u64, part: &dyn TreeRows, rows: Range<usize>) -> Result<FinishedShard, TreeError> {
        let (columns, bricks) = Columns::of(part, rows.clone())?;
        let levels = self.order.deepest() as usize + 1;
        let (mut terminals, mut filled) = (vec![[0; 2]; levels], vec![0; levels]);
        let entries = part.entries();
        for row in rows.clone() {
            let (level, leaf) = (entries.level(row), entries.is_leaf(row));
            terminals[level as usize][usize::from(leaf)] += 1;
            if !leaf {
                filled[level as usize] = u64::saturating_add(filled[level as usize], part.volume(row));
            }
        }
        let held =
            Held { rows: rows.len() as u64, cells: bricks.len() as u64, checksum: part.checksum_of(rows.clone()) };
        let last = rows.end - 1;
        let end = self.order.run(entries.level(last), entries.keys[last]).end;
        let hear = || self.control.map_or(Ok(()), Control::check);
        let write = ShardFiles { shard, shards: self.shards, kind: self.kind, folder: self.folder, hear: &hear };
        let cells = match part.list() {
            None => ShardCells { cells: part.bricks(), places: &[], range: bricks },
            Some(list) => ShardCells { cells: &list.words, places: &list.places, range: bricks },
        };
        let files = write.all(&held, &columns, cells)?;
        Ok(FinishedShard { shard, end, held, terminals, filled, files })
    }
}
