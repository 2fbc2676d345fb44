//! The shards of the tree of a list, from a file.

use crate::geometry::Region;
use crate::rule::exact;
use crate::tree::entries::Entries;
use crate::tree::error::TreeError;
use crate::tree::file::error::TreeFileError;
use crate::tree::file::reader::{MEETING, TreeFile};
use crate::tree::list::{LEAF_CELLS, ListLayout, ListedCells};
use crate::tree::parts::Parts;
use crate::tree::stored::{Tree, tiles};

impl<const K: usize> TreeFile<K> {
    /// Reads a part, and checks it.
    pub(super) fn read_listed(&self, part: usize, layout: &ListLayout) -> Result<Tree<K>, TreeError> {
        let (shard, held) = self.shard_of(part);
        let (columns, words) = self.stored.shard(shard, true)?;
        let places = self.stored.places(shard)?;
        let row = |(row, reason)| TreeFileError::Row { path: self.path().to_owned(), shard, row, reason };
        let (entries, starts) = columns.listed(&self.along, self.kind()).map_err(row)?;
        let wrong = |reason| Err(self.stored.wrong(shard, reason));
        let keys = self.keys(part);
        if !tiles(&self.along, &entries, &keys) {
            return wrong(format!("{} regions, which do not tile what they should cover", held.rows));
        }
        if starts.last().is_some_and(|&last| last >= held.cells) || (starts.is_empty() && held.cells > 0) {
            return wrong(format!("leaves whose entries begin at {:?}, of {}", starts.last(), held.cells));
        }
        let ends = starts.iter().copied().skip(1).chain((!starts.is_empty()).then_some(held.cells)).collect();
        let listed = ListedCells::of(layout.background, layout.most, ends, places, words);
        let background = |&word: &u64| exact::key(self.kind(), word) == layout.background;
        let tree = Tree::listed(self.along.clone(), keys, entries, listed)?;
        for (number, region) in tree.regions().filter(|region| region.uniform().is_none()).enumerate() {
            let (leaf, cells) = (region.listed_leaf(), region.cells().cells_wide());
            if cells > LEAF_CELLS {
                return wrong(format!("leaf {number}: {cells} cells, of which 2^64 can be in a leaf"));
            }
            let ascend = leaf.places.is_sorted_by(|a, b| a < b);
            if !ascend || leaf.places.last().is_none_or(|&last| u128::from(last) >= cells) {
                return wrong(format!(
                    "leaf {number}: places of entries that do not ascend, or beyond its {cells} cells"
                ));
            }
            if (0..leaf.places.len()).any(|entry| background(&leaf.entry(entry))) {
                return wrong(format!("leaf {number}: an entry of the background's value"));
            }
        }
        self.check(part, &tree)?;
        Ok(tree)
    }

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
            let [first, last] =
                [key, self.along.last(level, key)].map(|key| self.holding(self.stored.shards.of_code(key)));
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
