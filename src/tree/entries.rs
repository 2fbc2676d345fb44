//! The terminal regions of a tree, in rows.
//!
//! A row is a key, a byte for the level and the kind, and eight bytes for the value or the brick's place: 17 bytes, of which a
//! look-up reads the keys alone.

use crate::memory::{Refused, reserve};
use crate::result::{Content, Terminal};
use crate::tree::along::Along;

/// Set in a row's tag if it is a leaf.
const LEAF: u8 = 0x80;
/// Set if its value stands for others, which were cut off.
const CUT: u8 = 0x40;

/// Rows in the order of their keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Entries {
    pub(super) keys: Vec<u64>,
    /// The level, at most 32 since every level has more regions on some axis, and flags.
    tags: Vec<u8>,
    what: Vec<u64>,
}

impl Entries {
    /// Bytes of a row.
    pub(super) const BYTES: u64 = (size_of::<u64>() + size_of::<u8>() + size_of::<u64>()) as u64;

    pub(super) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Makes room for so many more.
    pub(super) fn reserve(&mut self, more: usize) -> Result<(), Refused> {
        reserve(&mut self.keys, more)?;
        reserve(&mut self.tags, more)?;
        reserve(&mut self.what, more)
    }

    fn push(&mut self, key: u64, tag: u8, what: u64) {
        self.keys.push(key);
        self.tags.push(tag);
        self.what.push(what);
    }

    /// A region of one value.
    pub(super) fn uniform(&mut self, level: u32, key: u64, word: u64) {
        self.push(key, level as u8, word);
    }

    /// A leaf whose brick begins at `place`.
    pub(super) fn leaf(&mut self, level: u32, key: u64, place: u64) {
        self.push(key, level as u8 | LEAF, place);
    }

    /// A region that shows one value for those that it was divided into.
    pub(super) fn cut(&mut self, level: u32, key: u64, word: u64) {
        self.push(key, level as u8 | CUT, word);
    }

    /// Row `index` of others, whose bricks are `by` cells further on here.
    pub(super) fn copy(&mut self, others: &Self, index: usize, by: u64) {
        let moved = if others.tags[index] & LEAF != 0 { by } else { 0 };
        self.push(others.keys[index], others.tags[index], others.what[index] + moved);
    }

    /// Drops all rows from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.keys.truncate(len);
        self.tags.truncate(len);
        self.what.truncate(len);
    }

    /// True if the rows from `start` on are uniform regions of this level and value.
    pub(super) fn all_uniform(&self, start: usize, level: u32, word: u64) -> bool {
        self.tags[start..].iter().all(|&tag| tag == level as u8) && self.what[start..].iter().all(|&what| what == word)
    }

    #[inline]
    pub(super) fn level(&self, index: usize) -> u32 {
        u32::from(self.tags[index] & !(LEAF | CUT))
    }

    /// True of a region whose value stands for others.
    pub(super) fn is_cut(&self, index: usize) -> bool {
        self.tags[index] & CUT != 0
    }

    /// What fills a region; leaves have a brick.
    #[inline]
    pub(super) fn content(&self, index: usize) -> Content {
        match self.tags[index] & LEAF {
            0 => Content::Uniform(self.what[index]),
            _ => Content::Leaf { brick: Some(self.what[index]) },
        }
    }

    /// The row as the rest of the crate knows terminal regions.
    pub(super) fn terminal<const K: usize>(&self, along: &Along<K>, index: usize) -> Terminal {
        let level = self.level(index);
        let code = along.code(level, self.keys[index]);
        match self.content(index) {
            Content::Uniform(word) => Terminal::uniform(level, code, word),
            Content::Leaf { brick } => Terminal::leaf(level, code, brick),
        }
    }
}
