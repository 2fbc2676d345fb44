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

impl ListedLeaf<'_> {
    /// The word of the cell at a place.
    pub(in crate::tree) fn word(&self, place: u64) -> u64 {
        self.places.binary_search(&place).map_or(self.background, |entry| self.entry(entry))
    }

    /// The word of an entry.
    #[inline]
    pub(in crate::tree) fn entry(&self, entry: usize) -> u64 {
        self.words.word(self.first + entry)
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
        let start = self.places.partition_point(|&place| place < ends[0]);
        for (entry, &place) in self.places.iter().enumerate().skip(start).take_while(|(_, place)| **place <= ends[1]) {
            let cell = own.cell(own.offset(place));
            if part.contains_cell(cell) {
                visit(cell, self.entry(entry));
            }
        }
    }

    /// The values of its cells in their order, each with how often it comes, of so many cells.
    pub(in crate::tree) fn runs(self, cells: u128) -> impl Iterator<Item = (u64, u128)> {
        let kind = self.words.kind();
        let gap = move |entry: usize| {
            let next = self.places.get(entry).map_or(cells, |&place| place.into());
            let before = entry.checked_sub(1).map_or(0, |before| u128::from(self.places[before]) + 1);
            (self.background, next - before)
        };
        let entry = move |entry: usize| (exact::key(kind, self.entry(entry)), 1);
        let all = (0..self.places.len()).flat_map(move |i| [gap(i), entry(i)]);
        all.chain(std::iter::once_with(move || gap(self.places.len()))).filter(|&(_, cells)| cells > 0)
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
