//! Trees of lists into files, shard by shard.

use crate::dimension::here;
use crate::tree::error::TreeError;
use crate::tree::file::info::TreeInfo;
use crate::tree::file::writer::{TreeTarget, TreeWriter};
use crate::tree::list::SortedList;

impl<const K: usize> SortedList<K> {
    /// Opens a target for the tree of the list.
    ///
    /// ```
    /// use orthant::prelude::*;
    /// use orthant::tree::{CellList, TreeFile, TreeInfo, TreeTarget};
    /// use orthant::{CellType, Control};
    ///
    /// # let path = std::env::temp_dir().join(format!("orthant-doc-list-{}.tree.zarr.zip", std::process::id()));
    /// let size = [1 << 20; 3];
    /// let plan = Plan::builder(size).scheme(Scheme::for_list(size, None, None, None)).rule(RuleKind::Full).build()?;
    /// let mut list = CellList::new(&plan, CellType::U8)?;
    /// list.push([3, 1_000_000, 5], 1)?;
    /// let sorted = list.sorted(&Control::default())?;
    /// let mut writer = sorted.open(TreeTarget::new(&path), &TreeInfo::of(&plan))?;
    /// sorted.write(&mut writer)?;
    /// writer.finish()?;
    /// assert_eq!(TreeFile::<3>::open(&path)?.word([3, 1_000_000, 5])?, Some(1));
    /// # std::fs::remove_file(&path)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// As [`TreeTarget::open`].
    pub fn open(&self, target: TreeTarget, info: &TreeInfo) -> Result<TreeWriter<K>, TreeError> {
        target.listed(self.layout()).open(self.along.plan(), self.kind(), info)
    }

    /// Writes the tree shard by shard. In memory are the list, one shard and its files.
    ///
    /// # Errors
    /// As [`TreeWriter::write`].
    pub fn write(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        here!(fn(&SortedList<K>, &mut TreeWriter<K>) -> Result<(), TreeError> = SortedList::<K>::write_here)(
            self, writer,
        )
    }

    fn write_here(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        for shard in 0..writer.shards() {
            if writer.is_done(shard) {
                continue;
            }
            let shards = &writer.written.shards;
            let rows = shards.rows_of(shard, &self.cells.rows.keys);
            writer.write(&self.part(rows, shards.keys(shard))?)?;
        }
        Ok(())
    }
}
