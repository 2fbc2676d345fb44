//! A run of regions along the curve in the making, in which families of one value become their parents.

use crate::backend::{Batch, Error, Sink};
use crate::cell::CellType;
use crate::memory::Refused;
use crate::result::{Cells, Content, MemoryError, Stored, Terminal};
use crate::tree::along::Along;
use crate::tree::entries::Entries;
use crate::tree::provenance::Provenance;

/// Terminal regions of a batch.
const REGIONS: usize = 1 << 16;

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

    /// The next region, of one value, which all its cells have been seen to have.
    pub(super) fn uniform<const K: usize>(&mut self, along: &Along<K>, level: u32, code: u64, word: u64) {
        let (mut level, mut code) = (level, code);
        self.entries.uniform(level, along.key(level, code), word, Provenance::Proved);
        while level > 0 && code % along.children == along.children - 1 {
            let family = usize::try_from(along.children).ok().and_then(|r| self.entries.len().checked_sub(r));
            // Regions follow each other, so that so many of one level before the last child are its siblings.
            let Some(start) = family.filter(|&start| self.entries.all_uniform(start, level, word)) else { return };
            self.entries.truncate(start);
            (level, code) = (level - 1, code / along.children);
            self.entries.uniform(level, along.key(level, code), word, Provenance::Proved);
        }
    }

    /// The first of the rows at the end that can still become one region with what follows: the number of all rows if there are none.
    /// The piece covers the keys from `first` to before `next`.
    pub(super) fn undecided<const K: usize>(&self, along: &Along<K>, first: u128, next: u128) -> usize {
        let len = self.entries.len();
        if next == along.whole().end {
            return len;
        }
        for level in 0..along.deepest() {
            // The region that goes on.
            let begins = along.key(level, along.code(level, next as u64));
            if u128::from(begins) == next || u128::from(begins) < first {
                continue;
            }
            let start = self.entries.keys.partition_point(|&key| key < begins);
            if self.entries.all_of_value(start) {
                return start;
            }
        }
        len
    }

    /// Hands its regions to a sink, along the curve.
    ///
    /// # Errors
    /// Those of the sink, or if there is no memory for a batch.
    pub(super) fn deliver<const K: usize>(&self, along: &Along<K>, sink: &mut dyn Sink<K>) -> Result<(), Error> {
        let plan = along.plan();
        let mut terminals = Vec::with_capacity(REGIONS.min(self.entries.len()));
        let (mut cells, mut start, mut next) = (Cells::empty(self.bricks.kind()), 0, 0);
        while next < self.entries.len() {
            let rows = next..self.entries.len().min(next + REGIONS);
            next = rows.end;
            terminals.clear();
            terminals.extend(rows.map(|row| self.entries.terminal(along, row)));
            let leaves = terminals.iter().filter(|terminal| matches!(terminal.content(), Content::Leaf { .. }));
            let volume = |leaf: &Terminal| plan.region(leaf.level(), leaf.code).volume() as usize;
            let end = start + leaves.map(volume).sum::<usize>();
            cells.clear();
            cells.reserve(end - start).map_err(MemoryError::refused(Stored::Terminals))?;
            cells.extend_from(&self.bricks, start..end);
            sink.terminals(Batch { plan, terminals: &terminals, bricks: &cells, start: start as u64 })?;
            start = end;
        }
        Ok(())
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
