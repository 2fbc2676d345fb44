//! Trees from the cells up into files, without being in memory as a whole.

use crate::dimension::here;
use crate::tree::bottom_up::BottomUp;
use crate::tree::error::TreeError;
use crate::tree::file::writer::TreeWriter;
use crate::tree::piece::Piece;
use crate::tree::stored::Tree;

impl<const K: usize> BottomUp<'_, K> {
    /// Makes the tree shard by shard, and writes the shards that are not finished. In memory are one shard, its files,
    /// and regions of one value that may still become part of a larger one.
    ///
    /// ```
    /// use orthant::prelude::*;
    /// use orthant::CellType;
    /// use orthant::tree::{BottomUp, TreeInfo, TreeTarget};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = std::env::temp_dir().join(format!("orthant-doc-streamed-{}", std::process::id()));
    /// # std::fs::create_dir_all(&folder)?;
    /// # let path = folder.join("volume.tree.zarr");
    /// let volume = orthant::ndarray::ArrayD::<u16>::zeros(vec![40, 50, 60]);
    /// let source = ArrayField::new(volume.view())?;
    /// let plan = Plan::builder([60, 50, 40]).scheme(Scheme::uniform(2, 2, 4)).rule(RuleKind::Full).build()?;
    /// let mut writer = TreeTarget::new(&path).open(&plan, CellType::U16, &TreeInfo::of(&plan))?;
    /// BottomUp::new(&plan, &source)?.write(&mut writer)?;
    /// writer.finish()?;
    /// assert_eq!(Tree::<3>::open(&path)?.len(), 8);
    /// # std::fs::remove_dir_all(&folder)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`tree`](Self::tree), and [`TreeError::File`].
    pub fn write(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        here!(fn(&BottomUp<'_, K>, &mut TreeWriter<K>) -> Result<(), TreeError> = |this, writer| this.write_here(writer))(
            self, writer,
        )
    }

    fn write_here(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        // What was made and not written, and the key where it begins.
        let (mut open, mut first) = (Piece::new(self.source.kind(), self.criterion), 0);
        if writer.done() < writer.shards() {
            self.survey()?;
        }
        for shard in 0..writer.shards() {
            let keys = writer.shards.keys(shard);
            if open.entries.len() == 0 {
                first = keys.start;
                if writer.is_done(shard) {
                    continue;
                }
            }
            let (level, codes) = writer.codes(shard);
            let piece = self.piece(level, codes)?;
            self.fits(open.bytes() + piece.bytes())?;
            match open.entries.len() {
                0 => open = piece,
                _ => open.append(&self.along, &piece)?,
            }
            let Some((decided, until)) = open.decided(&self.along, first, keys.end) else { continue };
            let Piece { entries, bricks, .. } = decided;
            writer.write(&Tree::new(self.along.clone(), first..until, entries, bricks)?)?;
            first = until;
        }
        Ok(())
    }
}
