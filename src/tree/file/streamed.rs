//! Trees from the cells up into files, without being in memory as a whole.

use std::ops::Range;

use crate::dimension::here;
use crate::tree::along::Along;
use crate::tree::bottom_up::BottomUp;
use crate::tree::curve_order::CurveOrder;
use crate::tree::error::TreeError;
use crate::tree::file::making::are_equal;
use crate::tree::file::writer::TreeWriter;
use crate::tree::file::written_tree::WrittenTree;
use crate::tree::piece::Piece;
use crate::tree::points::FromPoints;
use crate::tree::predicate::Criterion;
use crate::tree::stored::Tree;
use crate::tree::tree_rows::TreeRows;

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
        if writer.done() < writer.shards() {
            self.survey()?;
        }
        let open = Piece::new(self.source.kind(), self.criterion);
        stream(&self.along, open, writer, &|level, codes| self.piece(level, codes), &|bytes| self.fits(bytes))
    }
}

impl<const K: usize> FromPoints<'_, K> {
    /// Makes the tree shard by shard, and writes the shards that are not finished. In memory are the sorted list, one shard, its
    /// files, and regions of one value that may still become part of a larger one.
    ///
    /// # Errors
    /// As [`tree`](Self::tree), and [`TreeError::File`].
    pub fn write(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        here!(fn(&FromPoints<'_, K>, &mut TreeWriter<K>) -> Result<(), TreeError> = |this, writer| this.write_here(writer))(
            self, writer,
        )
    }

    fn write_here(&self, writer: &mut TreeWriter<K>) -> Result<(), TreeError> {
        let open = Piece::new(self.kind, Criterion::Exact);
        stream(&self.along, open, writer, &|level, codes| self.piece(level, codes), &|bytes| self.fits(bytes))
    }
}

/// Makes what lies below a run of a level's codes.
type Making<'m> = dyn Fn(u32, Range<u128>) -> Result<Piece, TreeError> + 'm;

/// Makes a part of the tree of a run of keys and of what lies there.
type PartOf<'p> = dyn Fn(Range<u128>, Piece) -> Result<Box<dyn TreeRows>, TreeError> + 'p;

/// Writes the shards that are not finished, of pieces that are made one after the other. `open` is an empty one, and `fits` is asked
/// about the bytes of those that are in memory.
fn stream<const K: usize>(
    own: &Along<K>,
    open: Piece,
    writer: &mut TreeWriter<K>,
    make: &Making<'_>,
    fits: &dyn Fn(u64) -> Result<(), TreeError>,
) -> Result<(), TreeError> {
    let TreeWriter { along, written, .. } = writer;
    let path = written.path.clone();
    let part = |keys: Range<u128>, Piece { entries, bricks, .. }: Piece| -> Result<Box<dyn TreeRows>, TreeError> {
        let tree = Tree::new(own.clone(), keys, entries, bricks)?;
        are_equal(&path, along.plan(), tree.plan())?;
        Ok(Box::new(tree))
    };
    stream_parts(own, open, written, make, fits, &part)
}

/// The same, however many axes there are.
fn stream_parts(
    order: &CurveOrder,
    mut open: Piece,
    written: &mut WrittenTree,
    make: &Making<'_>,
    fits: &dyn Fn(u64) -> Result<(), TreeError>,
    part: &PartOf<'_>,
) -> Result<(), TreeError> {
    // What was made and not written begins at this key.
    let mut first = 0;
    for shard in 0..written.shards.count {
        let keys = written.shards.keys(shard);
        if open.entries.len() == 0 {
            first = keys.start;
            if written.is_done(shard) {
                continue;
            }
        }
        let piece = make(written.shards.level, written.shards.codes(shard))?;
        fits(open.bytes() + piece.bytes())?;
        match open.entries.len() {
            0 => open = piece,
            _ => open.append(order, &piece)?,
        }
        let Some((decided, until)) = open.decided(order, first, keys.end) else { continue };
        written.write(order, &*part(first..until, decided)?)?;
        first = until;
    }
    Ok(())
}
