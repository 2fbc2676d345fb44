//! How the tree of a list is cut into shards.

use std::ops::Range;

use crate::tree::entries::Entries;
use crate::tree::stored::Tree;

/// Entries of a shard, about: a leaf of the last level can have more.
const ENTRIES: u64 = 1 << 20;

/// Rows of a shard, at most.
const ROWS: u64 = 1 << 18;

/// How the tree of a list is cut into shards, which follows from its regions: shards are runs of regions with about as many entries.
/// [`TreeTarget::listed`](crate::tree::TreeTarget::listed) takes it.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::tree::CellList;
/// use orthant::{CellType, Control};
///
/// let plan = Plan::builder([1 << 20; 2]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build()?;
/// let layout = CellList::new(&plan, CellType::U8)?.background(7).sorted(&Control::default())?.layout();
/// assert_eq!((layout.background(), layout.most()), (7, 1024));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListLayout {
    /// The word of cells that are not listed.
    pub(in crate::tree) background: u64,
    /// The entries at which division stops.
    pub(in crate::tree) most: u64,
    /// The key of the first region of each shard.
    pub(in crate::tree) first: Vec<u64>,
    /// The most rows of a shard.
    pub(in crate::tree) rows: u64,
    /// The most entries of a shard.
    pub(in crate::tree) entries: u64,
}

impl ListLayout {
    /// Of the regions of a whole tree, whose leaves have these entries.
    pub(in crate::tree) fn of(
        rows: &Entries,
        range: &dyn Fn(usize) -> Range<usize>,
        background: u64,
        most: u64,
    ) -> Self {
        let mut layout = Self { background, most, first: Vec::new(), rows: 0, entries: 0 };
        let mut held = [0u64; 2];
        for row in 0..rows.len() {
            let (leaf, number) = rows.leaf_or_word(row);
            let entries = if leaf { range(number as usize).len() as u64 } else { 0 };
            if layout.first.is_empty() || held[0] == ROWS || (held[1] > 0 && held[1] + entries > ENTRIES) {
                layout.first.push(rows.keys[row]);
                held = [0; 2];
            }
            held = [held[0] + 1, held[1] + entries];
            (layout.rows, layout.entries) = (layout.rows.max(held[0]), layout.entries.max(held[1]));
        }
        layout
    }

    /// The word of cells that are not listed.
    pub fn background(&self) -> u64 {
        self.background
    }

    /// The entries at which division stops.
    pub fn most(&self) -> u64 {
        self.most
    }
}

impl<const K: usize> Tree<K> {
    /// How the tree of a list is cut into shards; None of other trees.
    pub(in crate::tree) fn list_layout(&self) -> Option<ListLayout> {
        let listed = self.list.as_ref()?;
        Some(ListLayout::of(&self.entries, &|leaf| listed.range(leaf), listed.background, listed.most))
    }
}
