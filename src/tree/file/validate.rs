//! The check of everything in the file of a tree.

use crate::dimension::here;
use crate::parallel;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::header::add_terminals;
use crate::tree::file::reader::TreeFile;
use crate::tree::parts::Parts;

impl<const K: usize> TreeFile<K> {
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
        self.stored.store.audit().map_err(TreeFileError::from)?;
        let mut terminals = vec![[0; 2]; self.terminals().len()];
        let parts: Vec<usize> = (0..self.parts()).collect();
        let this: &dyn Parts<K> = self;
        for some in this.batches(&parts) {
            for found in parallel::map(some.len(), &|i| self.validate_part(some[i])) {
                add_terminals(&mut terminals, &found?);
            }
        }
        if terminals != self.terminals() {
            let (path, reason) = (self.path().to_owned(), format!("{:?}; there are {terminals:?}", self.terminals()));
            return Err(TreeFileError::Header { path, key: "terminals", reason }.into());
        }
        Ok(())
    }

    /// Checks a shard; on each level how many of its regions are uniform and how many are leaves.
    fn validate_part(&self, part: usize) -> Result<Vec<[u64; 2]>, TreeError> {
        self.stored.validate(part, &self.read(part)?)
    }
}
