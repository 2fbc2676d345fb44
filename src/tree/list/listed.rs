//! The cells of sparse leaves.

use std::ops::Range;

use crate::cell::{CellType, Words};
use crate::geometry::Region;
use crate::memory::{Refused, reserve};
use crate::per_axis;
use crate::result::{Cells, RegionsChecksum, append_le};
use crate::rule::exact;
use xxhash_rust::xxh3::xxh3_64;

/// Of every sparse leaf the cells that are not background, by their places in the leaf, with their words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::tree) struct ListedCells {
    /// The word of all other cells.
    pub(in crate::tree) background: u64,
    /// The entries at which division stops.
    pub(in crate::tree) most: u64,
    /// Where the entries of each leaf end.
    ends: Vec<u64>,
    /// Places in storage order of the leaf, ascending within each.
    pub(in crate::tree) places: Vec<u64>,
    pub(in crate::tree) words: Cells,
}

/// The entries of a sparse leaf.
#[derive(Debug, Clone, Copy)]
pub(in crate::tree) struct ListedLeaf<'t> {
    pub(in crate::tree) background: u64,
    pub(in crate::tree) places: &'t [u64],
    words: &'t Cells,
    /// Where its words begin.
    first: usize,
}

impl ListedCells {
    /// Bytes of an entry beside its cell.
    pub(in crate::tree) const PLACE_BYTES: u64 = size_of::<u64>() as u64;

    pub(in crate::tree) fn new(kind: CellType, background: u64, most: u64) -> Self {
        Self { background, most, ends: Vec::new(), places: Vec::new(), words: Cells::empty(kind) }
    }

    /// Of leaves that end at these entries.
    pub(in crate::tree) fn of(background: u64, most: u64, ends: Vec<u64>, places: Vec<u64>, words: Cells) -> Self {
        debug_assert!(places.len() == words.len() && ends.last().copied().unwrap_or(0) == places.len() as u64);
        Self { background, most, ends, places, words }
    }

    pub(in crate::tree) fn leaves(&self) -> usize {
        self.ends.len()
    }

    pub(in crate::tree) fn bytes(&self) -> u64 {
        8 * (self.ends.len() as u64 + self.places.len() as u64) + self.words.len() as u64 * self.words.kind().bytes()
    }

    /// Room for so many leaves and entries more.
    pub(in crate::tree) fn reserve(&mut self, leaves: usize, entries: usize) -> Result<(), Refused> {
        reserve(&mut self.ends, leaves)?;
        reserve(&mut self.places, entries)?;
        self.words.reserve(entries)
    }

    /// Appends a leaf.
    pub(in crate::tree) fn push(&mut self, places: impl Iterator<Item = u64>, words: &[u64]) {
        self.places.extend(places);
        match self.words.kind().bytes() {
            8 => self.words.extend(Words::Wide(words)),
            _ => words.iter().for_each(|&word| self.words.extend_copies(word, 1)),
        }
        self.ends.push(self.places.len() as u64);
    }

    /// Appends the leaves of another list of the same background.
    pub(in crate::tree) fn append(&mut self, other: &Self) -> Result<(), Refused> {
        self.reserve(other.ends.len(), other.places.len())?;
        let by = self.places.len() as u64;
        self.ends.extend(other.ends.iter().map(|end| end + by));
        self.places.extend_from_slice(&other.places);
        self.words.append(&other.words);
        Ok(())
    }

    /// Where the entries of a leaf are.
    pub(in crate::tree) fn range(&self, leaf: usize) -> Range<usize> {
        let start = leaf.checked_sub(1).map_or(0, |before| self.ends[before]);
        start as usize..self.ends[leaf] as usize
    }

    pub(in crate::tree) fn leaf(&self, leaf: usize) -> ListedLeaf<'_> {
        let range = self.range(leaf);
        let first = range.start;
        ListedLeaf { background: self.background, places: &self.places[range], words: &self.words, first }
    }
}

impl<'t> ListedLeaf<'t> {
    /// The values of its cells in their order, each with how often it comes, of so many cells.
    pub(in crate::tree) fn runs(self, cells: u128) -> ListedRuns<'t> {
        ListedRuns { leaf: self, cells, next: 0, entry: 0 }
    }

    /// The word of the cell at a place.
    pub(in crate::tree) fn word(&self, place: u64) -> u64 {
        self.places.binary_search(&place).map_or(self.background, |entry| self.entry(entry))
    }

    /// The word of an entry.
    #[inline]
    pub(in crate::tree) fn entry(&self, entry: usize) -> u64 {
        self.words.word(self.first + entry)
    }

    /// The entries from a place to another.
    fn between(&self, [first, last]: [u64; 2]) -> Range<usize> {
        let at = |end: u64| self.places.partition_point(|&place| place < end);
        at(first)..last.checked_add(1).map_or(self.places.len(), at)
    }

    /// The entries in a part of the leaf, whose cells are `own`: each with its cell and its word, in storage order.
    pub(in crate::tree) fn within<const K: usize>(
        &self,
        own: &Region<K>,
        part: &Region<K>,
        visit: &mut dyn FnMut([u32; K], u64),
    ) {
        let last = per_axis::each(|j| part.corner[j] + (part.extent[j] - 1));
        let ends = [own.place(part.corner) as u64, own.place(last) as u64];
        for entry in self.between(ends) {
            let place = self.places[entry];
            let cell = own.cell(own.offset(place));
            if part.contains_cell(cell) {
                visit(cell, self.entry(entry));
            }
        }
    }

    /// The least and the greatest word of so many cells, by their ranks.
    pub(in crate::tree) fn ends(&self, cells: u128) -> [u64; 2] {
        let kind = self.words.kind();
        let mut found: Option<[(u64, u64); 2]> = None;
        for (word, _) in self.runs(cells) {
            let ranked = (kind.rank(word), word);
            let [least, greatest] = found.get_or_insert([ranked; 2]);
            (*least, *greatest) = ((*least).min(ranked), (*greatest).max(ranked));
        }
        found.expect("a leaf has cells").map(|(_, word)| word)
    }

    /// The checksum of a leaf of a level, at these coordinates.
    pub(in crate::tree) fn checksum(&self, level: u32, coords: &[u32], bytes: &mut Vec<u8>) -> RegionsChecksum {
        bytes.clear();
        bytes.extend(level.to_le_bytes());
        coords.iter().for_each(|p| bytes.extend(p.to_le_bytes()));
        bytes.extend(2u32.to_le_bytes());
        bytes.extend(self.background.to_le_bytes());
        bytes.extend((self.places.len() as u64).to_le_bytes());
        self.places.iter().for_each(|place| bytes.extend(place.to_le_bytes()));
        append_le(self.words, self.first..self.first + self.places.len(), bytes);
        RegionsChecksum(xxh3_64(bytes))
    }
}

/// The values of a sparse leaf's cells in their order, each with how often it comes in a row.
pub(in crate::tree) struct ListedRuns<'t> {
    leaf: ListedLeaf<'t>,
    cells: u128,
    /// The place of the next cell.
    next: u128,
    /// The number of the next entry.
    entry: usize,
}

impl Iterator for ListedRuns<'_> {
    type Item = (u64, u128);

    fn next(&mut self) -> Option<Self::Item> {
        let listed = self.leaf.places.get(self.entry).map_or(self.cells, |&place| place.into());
        if self.next < listed {
            let gap = listed - self.next;
            self.next = listed;
            return Some((self.leaf.background, gap));
        }
        if self.next == self.cells {
            return None;
        }
        let word = exact::key(self.leaf.words.kind(), self.leaf.entry(self.entry));
        (self.next, self.entry) = (self.next + 1, self.entry + 1);
        Some((word, 1))
    }
}
