//! A run of regions along the curve in the making, in which families of one value become their parents.

use crate::cell::CellType;
use crate::memory::Refused;
use crate::result::{Cells, Content};
use crate::tree::along::Along;
use crate::tree::entries::Entries;

/// Regions along the curve, and their bricks.
///
/// Regions come in the order of the curve. When the last child of a family comes and all have one value, the family leaves and
/// its parent takes its place, which may complete a family in turn. So a piece never holds more than its regions and, on every
/// level, one family that is still to be decided.
#[derive(Debug)]
pub(super) struct Piece {
    pub(super) entries: Entries,
    pub(super) bricks: Cells,
}

impl Piece {
    pub(super) fn new(kind: CellType) -> Self {
        Self { entries: Entries::default(), bricks: Cells::empty(kind) }
    }

    /// Bytes of its regions and bricks.
    pub(super) fn bytes(&self) -> u64 {
        self.entries.len() as u64 * Entries::BYTES + self.bricks.len() as u64 * self.bricks.kind().bytes()
    }

    /// The next region, of one value.
    pub(super) fn uniform<const K: usize>(&mut self, along: &Along<K>, level: u32, code: u64, word: u64) {
        let (mut level, mut code) = (level, code);
        self.entries.uniform(level, along.key(level, code), word);
        while level > 0 && code % along.children == along.children - 1 {
            let family = usize::try_from(along.children).ok().and_then(|r| self.entries.len().checked_sub(r));
            let Some(start) = family else { return };
            // So many regions from the first child to the last are the children.
            let first = along.key(level, code - (along.children - 1));
            if self.entries.keys[start] != first || !self.entries.all_uniform(start, level, word) {
                return;
            }
            self.entries.truncate(start);
            (level, code) = (level - 1, code / along.children);
            self.entries.uniform(level, along.key(level, code), word);
        }
    }

    /// The regions of the piece that follows this one.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn append<const K: usize>(&mut self, along: &Along<K>, next: &Self) -> Result<(), Refused> {
        self.entries.reserve(next.entries.len())?;
        self.bricks.reserve(next.bricks.len())?;
        let by = self.bricks.len() as u64;
        for index in 0..next.entries.len() {
            match next.entries.content(index) {
                Content::Uniform(word) => {
                    let level = next.entries.level(index);
                    self.uniform(along, level, along.code(level, next.entries.keys[index]), word);
                }
                Content::Leaf { .. } => self.entries.copy(&next.entries, index, by),
            }
        }
        self.bricks.append(&next.bricks);
        Ok(())
    }
}
