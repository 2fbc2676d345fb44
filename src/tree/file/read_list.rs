//! The shards of the tree of a list, from a file.

use crate::geometry::Region;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::reader::{MEETING, TreeFile};
use crate::tree::list::{ListLayout, ListedCells};
use crate::tree::parts::Parts;
use crate::tree::stored::Tree;

impl<const K: usize> TreeFile<K> {
    /// All parts as one tree.
    pub(super) fn whole_list(&self, layout: &ListLayout) -> Result<Tree<K>, TreeError> {
        let mut listed = ListedCells::new(self.kind(), layout.background, layout.most);
        let mut entries = Entries::default();
        for index in 0..self.parts() {
            let part = self.part(index)?;
            if let Some(own) = &part.list {
                entries.reserve(part.len())?;
                entries.append(&part.entries, 0, listed.leaves() as u64);
                listed.append(own)?;
            }
        }
        Tree::listed(self.along.clone(), self.along.whole(), entries, listed)
    }

    /// The numbers of the parts that meet a box of the domain, in ascending order.
    pub(super) fn listed_meeting(&self, window: &Region<K>) -> Vec<usize> {
        let (mut found, mut left) = (Vec::new(), MEETING);
        if !self.meeting_below(0, window, &mut found, &mut left) {
            return (0..self.parts()).collect();
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The same of regions of a level that meet a box: one that lies in a part is not looked into. False if more regions meet it than
    /// are `left` to be asked.
    fn meeting_below(&self, level: u32, window: &Region<K>, found: &mut Vec<usize>, left: &mut u128) -> bool {
        let (encoding, meeting) = (self.plan().encoding(), self.along.meeting(level, window));
        let Some(rest) = left.checked_sub(meeting.cells_wide()) else { return false };
        *left = rest;
        for coords in meeting.cells() {
            let key = self.along.key(level, encoding.encode(level, coords));
            let [first, last] = [self.stored.holding(key), self.stored.holding(self.along.last(level, key))];
            if first == last {
                if found.last() != Some(&first) {
                    found.push(first);
                }
                continue;
            }
            let cells = self.plan().levels()[level as usize].region(coords);
            if let Some(part) = cells.intersection(window)
                && !self.meeting_below(level + 1, &part, found, left)
            {
                return false;
            }
        }
        true
    }
}
