//! Parts of a tree in a file that stay in memory for whoever asks next.

use std::sync::Arc;

use crate::geometry::Region;
use crate::tree::stored::Tree;

/// Parts in memory, the one that was asked for last at the end.
#[derive(Debug)]
pub(super) struct RecentParts<const K: usize> {
    parts: Vec<KeptPart<K>>,
    /// The bytes that they may have; the last one stays.
    pub(super) limit: u64,
}

/// A part in memory.
#[derive(Debug)]
struct KeptPart<const K: usize> {
    part: usize,
    /// The box that its bricks meet, if it has not all of them.
    window: Option<Region<K>>,
    tree: Arc<Tree<K>>,
}

/// How many boxes of a part are read before all of it is.
const BOXES: usize = 4;

impl<const K: usize> RecentParts<K> {
    /// None yet.
    pub(super) fn new(limit: u64) -> Self {
        Self { parts: Vec::new(), limit }
    }

    /// The part that has what a box needs; without a box, everything.
    pub(super) fn take(&mut self, part: usize, needed: Option<&Region<K>>) -> Option<Arc<Tree<K>>> {
        for at in 0..self.parts.len() {
            if self.parts[at].has(part, needed) {
                // The one that was asked for last is the last to go.
                let found = self.parts.remove(at);
                let tree = found.tree.clone();
                self.parts.push(found);
                return Some(tree);
            }
        }
        None
    }

    /// True if so many boxes of a part were read that all of it should be.
    pub(super) fn is_asked_often(&self, part: usize) -> bool {
        let mut boxes = 0;
        for kept in &self.parts {
            boxes += usize::from(kept.part == part);
        }
        boxes >= BOXES
    }

    /// Keeps a part, of which a box may be all that there is; those that were not asked for lately go.
    pub(super) fn put(&mut self, part: usize, window: Option<Region<K>>, tree: Arc<Tree<K>>) {
        let mut bytes = tree.bytes();
        let whole = window.is_none();
        for at in (0..self.parts.len()).rev() {
            let kept = &self.parts[at];
            if whole && kept.part == part {
                self.parts.remove(at);
            } else {
                bytes += kept.tree.bytes();
            }
        }
        self.parts.push(KeptPart { part, window, tree });
        while bytes > self.limit && self.parts.len() > 1 {
            bytes -= self.parts.remove(0).tree.bytes();
        }
    }
}

impl<const K: usize> KeptPart<K> {
    /// True if it has what a box of a part needs.
    fn has(&self, part: usize, needed: Option<&Region<K>>) -> bool {
        self.part == part
            && match (&self.window, needed) {
                (None, _) => true,
                (Some(window), Some(needed)) => window.contains(needed),
                (Some(_), None) => false,
            }
    }
}
