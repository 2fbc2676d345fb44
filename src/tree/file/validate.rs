//! The check of everything in the file of a tree.

use crate::dimension::here;
use crate::parallel;
use crate::tree::error::TreeError;
use crate::tree::file::columns::ends;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::add_terminals;
use crate::tree::file::reader::TreeFile;
use crate::tree::file::shards::Array;
use crate::tree::file::stored_shards::StoredShards;
use crate::tree::tree_rows::TreeRows;

impl<const K: usize> TreeFile<K> {
    /// Checks everything in the file. Every shard must be what the header says. The least and the greatest value of a
    /// leaf must be those of its brick. There must be as many regions as the header says. In a zip both descriptions of
    /// a member must agree, and its checksum must be right.
    ///
    /// # Errors
    /// The first that is wrong.
    pub fn validate(&self) -> Result<(), TreeError> {
        here!(fn(&TreeFile<K>) -> Result<(), TreeError> = TreeFile::<K>::validate_here)(self)
    }

    fn validate_here(&self) -> Result<(), TreeError> {
        self.stored.validate_all(self.limit(), &|part| Ok(Box::new(self.read(part)?)))
    }
}

/// Reads a part.
type ReadTree<'r> = dyn Fn(usize) -> Result<Box<dyn TreeRows>, TreeError> + Sync + 'r;

impl StoredShards {
    /// Checks everything. Parts are read together that have at most so many bytes.
    fn validate_all(&self, limit: u64, read: &ReadTree<'_>) -> Result<(), TreeError> {
        self.store.audit().map_err(TreeFileError::from)?;
        let mut terminals = vec![[0; 2]; self.header.terminals.len()];
        let parts: Vec<usize> = (0..self.parts.len()).collect();
        let mut rest = &parts[..];
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.together(rest, limit).max(1));
            for found in parallel::map(some.len(), &|i| self.validate(some[i], &*read(some[i])?)) {
                add_terminals(&mut terminals, &found?);
            }
            rest = others;
        }
        if terminals != self.header.terminals {
            let reason = format!("{:?}; there are {terminals:?}", self.header.terminals);
            return Err(TreeFileError::Header { path: self.path().to_owned(), key: "terminals", reason }.into());
        }
        Ok(())
    }

    /// Checks the least and the greatest value of each row of a part; on each level how many regions are uniform and how many are leaves.
    fn validate(&self, part: usize, tree: &dyn TreeRows) -> Result<Vec<[u64; 2]>, TreeError> {
        let (shard, entries) = (self.parts[part], tree.entries());
        let mut terminals = vec![[0; 2]; self.header.terminals.len()];
        let rows = entries.len() as u64;
        let (least, greatest) = (self.words(Array::Value, shard, rows)?, self.words(Array::Largest, shard, rows)?);
        for row in 0..entries.len() {
            terminals[entries.level(row) as usize][usize::from(entries.is_leaf(row))] += 1;
            let (found, expected) = ([least[row], greatest[row]], ends(tree, row));
            if found != expected {
                let text = |words: [u64; 2]| words.map(|word| self.kind().text(word)).join(" to ");
                let reason = format!("values {}, where its cells have {}", text(found), text(expected));
                return Err(self.wrong_row(shard)((row, reason)).into());
            }
        }
        Ok(terminals)
    }
}
