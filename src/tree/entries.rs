//! The terminal regions of a tree, in rows.
//!
//! A row is a key, a byte for the level, the kind and the [provenance](Provenance), and eight bytes for the value or the brick's
//! place: 17 bytes, of which a look-up reads the keys alone.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::memory::{Refused, reserve, zeros};
use crate::parallel;
use crate::result::{Content, Terminal};
use crate::tree::curve_order::CurveOrder;
use crate::tree::provenance::Provenance;

/// The bits of a tag that are not the level, which is at most 32 since every level has more regions on some axis. A leaf's cells
/// are there, and a uniform region's are as its provenance says.
const WHAT: u8 = 0xc0;
const LEAF: u8 = 0xc0;

/// What the tag of a uniform region has beside the level.
fn tag(provenance: Provenance) -> u8 {
    match provenance {
        Provenance::Proved => 0,
        Provenance::Sampled => 0x40,
        Provenance::Cut => 0x80,
    }
}

/// Rows that a thread makes at a time.
const TOGETHER: usize = 1 << 12;

/// A row.
pub(super) struct TreeRow {
    key: u64,
    tag: u8,
    what: u64,
}

impl TreeRow {
    /// Of a region of one value.
    pub(super) fn uniform(level: u32, key: u64, word: u64, provenance: Provenance) -> Self {
        Self { key, tag: level as u8 | tag(provenance), what: word }
    }

    /// Of a leaf whose brick begins at `place`.
    pub(super) fn leaf(level: u32, key: u64, place: u64) -> Self {
        Self { key, tag: level as u8 | LEAF, what: place }
    }
}

/// Rows in the order of their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) keys: Vec<u64>,
    tags: Vec<u8>,
    what: Vec<u64>,
}

impl Entries {
    /// Bytes of a row.
    pub(super) const BYTES: u64 = (size_of::<u64>() + size_of::<u8>() + size_of::<u64>()) as u64;

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// The first of some rows whose key is not below `key`, or the row after them.
    pub(super) fn first_from(&self, rows: Range<usize>, key: u64) -> usize {
        rows.start + self.keys[rows].partition_point(|&first| first < key)
    }

    /// The first of some rows whose key is above `key`, or the row after them.
    pub(super) fn first_above(&self, rows: Range<usize>, key: u64) -> usize {
        rows.start + self.keys[rows].partition_point(|&first| first <= key)
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), Refused> {
        reserve(&mut self.keys, more)?;
        reserve(&mut self.tags, more)?;
        reserve(&mut self.what, more)
    }

    /// So many rows, which all threads ask for.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(super) fn of(len: usize, row: &(dyn Fn(usize) -> TreeRow + Sync)) -> Result<Self, Refused> {
        let mut all = Self { keys: zeros(len)?, tags: zeros(len)?, what: zeros(len)? };
        let columns =
            all.keys.chunks_mut(TOGETHER).zip(all.tags.chunks_mut(TOGETHER)).zip(all.what.chunks_mut(TOGETHER));
        let pieces: Vec<_> = columns.map(Mutex::new).collect();
        parallel::each(pieces.len(), &|i| {
            let ((keys, tags), what) = &mut *pieces[i].lock().unwrap_or_else(PoisonError::into_inner);
            for (at, place) in parallel::piece(len, TOGETHER, i).enumerate() {
                TreeRow { key: keys[at], tag: tags[at], what: what[at] } = row(place);
            }
        });
        drop(pieces);
        Ok(all)
    }

    fn push(&mut self, TreeRow { key, tag, what }: TreeRow) {
        self.keys.push(key);
        self.tags.push(tag);
        self.what.push(what);
    }

    /// A region of one value.
    pub(super) fn uniform(&mut self, level: u32, key: u64, word: u64, provenance: Provenance) {
        self.push(TreeRow::uniform(level, key, word, provenance));
    }

    /// A leaf whose brick begins at `place`.
    pub(super) fn leaf(&mut self, level: u32, key: u64, place: u64) {
        self.push(TreeRow::leaf(level, key, place));
    }

    /// The rows of others from `first` on, whose bricks are `by` cells further on here.
    pub(super) fn append(&mut self, others: &Self, first: usize, by: u64) {
        self.keys.extend_from_slice(&others.keys[first..]);
        self.tags.extend_from_slice(&others.tags[first..]);
        let moved = |(&what, &tag): (&u64, &u8)| what + if tag & WHAT == LEAF { by } else { 0 };
        self.what.extend(others.what[first..].iter().zip(&others.tags[first..]).map(moved));
    }

    /// Row `index` of others, whose bricks are `by` cells further on here.
    pub(super) fn copy(&mut self, others: &Self, index: usize, by: u64) {
        let moved = if others.is_leaf(index) { by } else { 0 };
        self.push(TreeRow { key: others.keys[index], tag: others.tags[index], what: others.what[index] + moved });
    }

    /// Drops all rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        self.tags.truncate(len);
        self.what.truncate(len);
    }

    /// True if the rows from `start` on are uniform regions of this level and value, all of them proved.
    pub(super) fn all_uniform(&self, start: usize, level: u32, word: u64) -> bool {
        self.all_of_level(start, level) && self.what[start..].iter().all(|&what| what == word)
    }

    /// True if the rows from `start` on are uniform regions of this level, all of them proved.
    pub(super) fn all_of_level(&self, start: usize, level: u32) -> bool {
        let proved = level as u8 | tag(Provenance::Proved);
        self.tags[start..].iter().all(|&tag| tag == proved)
    }

    /// True if the rows from `start` on are uniform regions, whatever their levels, all of them proved.
    pub(super) fn all_proved(&self, start: usize) -> bool {
        self.tags[start..].iter().all(|&row| row & WHAT == tag(Provenance::Proved))
    }

    /// True if the rows from `start` on are uniform regions of one value, whatever their levels, all of them proved.
    pub(super) fn all_of_value(&self, start: usize) -> bool {
        self.all_proved(start) && self.what[start..].iter().all(|&what| what == self.what[start])
    }

    #[inline]
    pub(super) fn level(&self, index: usize) -> u32 {
        u32::from(self.tags[index] & !WHAT)
    }

    #[inline]
    pub(super) fn is_leaf(&self, index: usize) -> bool {
        self.tags[index] & WHAT == LEAF
    }

    /// How a region's cells are known; those of leaves are there.
    pub(super) fn provenance(&self, index: usize) -> Provenance {
        let uniform = [Provenance::Proved, Provenance::Sampled, Provenance::Cut];
        let found = uniform.into_iter().find(|&provenance| tag(provenance) == self.tags[index] & WHAT);
        found.unwrap_or(Provenance::Proved)
    }

    /// Says of a region of one value that all its cells are known to have it.
    pub(super) fn prove(&mut self, index: usize) {
        debug_assert!(!self.is_leaf(index));
        self.tags[index] = self.level(index) as u8 | tag(Provenance::Proved);
    }

    /// Says that a region of one value is no better known than `known`. Cells of leaves are there.
    pub(super) fn doubt(&mut self, index: usize, known: Provenance) {
        if !self.is_leaf(index) && tag(self.provenance(index)) < tag(known) {
            self.tags[index] = self.level(index) as u8 | tag(known);
        }
    }

    /// What fills a region; leaves have a brick.
    #[inline]
    pub(super) fn content(&self, index: usize) -> Content {
        match self.is_leaf(index) {
            false => Content::Uniform(self.what[index]),
            true => Content::Leaf { brick: Some(self.what[index]) },
        }
    }

    /// True of a leaf, and where its brick begins; else the word of all cells.
    #[inline]
    pub(super) fn leaf_or_word(&self, index: usize) -> (bool, u64) {
        (self.is_leaf(index), self.what[index])
    }

    /// Rows as the rest of the crate knows terminal regions.
    pub(super) fn terminals(&self, order: &CurveOrder, rows: Range<usize>) -> Vec<Terminal> {
        rows.map(|row| self.terminal(order, row)).collect()
    }

    /// The row as the rest of the crate knows terminal regions.
    pub(super) fn terminal(&self, order: &CurveOrder, index: usize) -> Terminal {
        let level = self.level(index);
        let code = order.code(level, self.keys[index]);
        match self.content(index) {
            Content::Uniform(word) => Terminal::uniform(level, code, word),
            Content::Leaf { brick } => Terminal::leaf(level, code, brick),
        }
    }
}
