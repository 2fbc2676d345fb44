//! Bytes that others may change while they are read.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;

use crate::mapping::file_map::FileMap;

/// Bytes that others may change: of a mapping, or of memory that nobody changes.
///
/// They are read by volatile loads, each of which is done once and where it stands, and whose value may be anything. So a change
/// makes wrong numbers and no more.
#[derive(Debug, Clone, Copy)]
pub struct SharedBytes<'s> {
    start: *const u8,
    length: usize,
    /// None of memory.
    mapping: Option<&'s FileMap>,
    lives: PhantomData<&'s [u8]>,
}

// SAFETY: they are only read, and whoever borrows them keeps them.
unsafe impl Send for SharedBytes<'_> {}
// SAFETY: as above.
unsafe impl Sync for SharedBytes<'_> {}

/// The bytes of a word.
const WORD: usize = size_of::<u64>();

/// The most words that are compared without a branch: a mixed row ends soon.
const AT_ONCE: usize = 64;

/// The most bytes of a run that is short.
pub(crate) const SHORT: usize = AT_ONCE * WORD;

impl<'s> SharedBytes<'s> {
    /// Those of memory, which nobody changes.
    pub(crate) fn of(bytes: &'s [u8]) -> Self {
        Self { start: bytes.as_ptr(), length: bytes.len(), mapping: None, lives: PhantomData }
    }

    /// Some of those of a file.
    ///
    /// # Panics
    /// If it had not as many when it was mapped.
    pub fn mapped(map: &'s FileMap, range: Range<usize>) -> Self {
        Self { start: map.start(), length: map.len(), mapping: Some(map), lives: PhantomData }.slice(range)
    }

    /// Some of them.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline]
    pub fn slice(self, range: Range<usize>) -> Self {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length);
        let length = length.expect("a range within the bytes");
        Self { start: self.start.wrapping_add(range.start), length, ..self }
    }

    /// Calls `read`, which reads these bytes: as [`FileMap::reading`].
    pub(crate) fn reading<R>(&self, read: impl FnOnce() -> R) -> R {
        match self.mapping {
            Some(mapping) => mapping.reading(read),
            None => read(),
        }
    }

    /// Copies all of them.
    ///
    /// # Panics
    /// If `to` has another length.
    #[inline]
    pub fn copy_to(self, to: &mut [u8]) {
        assert_eq!(self.length, to.len());
        // Words are read where words may begin.
        let head = self.start.align_offset(WORD).min(self.length);
        let (first, rest) = to.split_at_mut(head);
        let (words, last) = rest.as_chunks_mut::<WORD>();
        let tail = head + words.len() * WORD;
        // SAFETY: places within the bytes, that of words where they are aligned.
        unsafe {
            for (index, byte) in first.iter_mut().enumerate() {
                *byte = self.start.add(index).read_volatile();
            }
            let from = self.start.add(head).cast::<u64>();
            for (index, word) in words.iter_mut().enumerate() {
                *word = from.add(index).read_volatile().to_ne_bytes();
            }
            for (index, byte) in last.iter_mut().enumerate() {
                *byte = self.start.add(tail + index).read_volatile();
            }
        }
    }

    /// True if cells of so many bytes may begin where they begin.
    pub(crate) fn aligned(&self, width: usize) -> bool {
        self.start.addr().is_multiple_of(width)
    }

    /// The cells that they are.
    ///
    /// # Panics
    /// If they are not aligned as cells are.
    pub(crate) fn cells<W: Pod>(self) -> SharedCells<'s, W> {
        assert!(self.start.addr().is_multiple_of(align_of::<W>()), "cells begin where no cell may");
        let start = self.start.addr();
        let bytes = Addresses { start, end: start + self.length };
        SharedCells { start: self.start.cast(), length: self.length / size_of::<W>(), bytes, lives: PhantomData }
    }
}

/// From a first address to before an end.
#[derive(Debug, Clone, Copy)]
struct Addresses {
    start: usize,
    end: usize,
}

/// Cells of such bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedCells<'s, W> {
    start: *const W,
    length: usize,
    /// The addresses of all bytes of which they are some: those of other cells may be read, too.
    bytes: Addresses,
    lives: PhantomData<&'s [W]>,
}

// SAFETY: as for their bytes.
unsafe impl<W: Sync> Send for SharedCells<'_, W> {}
// SAFETY: as for their bytes.
unsafe impl<W: Sync> Sync for SharedCells<'_, W> {}

/// Cells in runs that follow each other. A short run is compared in less time than it takes to find out where its words begin, so that
/// words are read which lie across the ends of a run, and bits that are not of the run are left out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedRuns<'s, W> {
    /// The word in which the first cell lies.
    words: *const u64,
    /// Bytes of that word before the first cell.
    before: usize,
    length: usize,
    bounds: &'s [usize],
    of: PhantomData<&'s [W]>,
}

impl<W: Pod> SharedRuns<'_, W> {
    /// True if all cells of a run have these bits.
    ///
    /// # Panics
    /// If there is no such run among the cells.
    #[inline]
    pub(crate) fn all_are(&self, run: usize, bits: W) -> bool {
        let (start, end) = (self.bounds[run], self.bounds[run + 1]);
        assert!(start < end && end <= self.length, "cells {start}..{end} of {}", self.length);
        let [start, end] = [start, end].map(|cell| self.before + cell * size_of::<W>());
        let (first, last) = (start / WORD, (end - 1) / WORD);
        // The lowest bits of a word are its first bytes in memory, or are made so.
        let head = (u64::MAX << (8 * (start % WORD))).to_le();
        let tail = (u64::MAX >> (8 * (end.next_multiple_of(WORD) - end))).to_le();
        let pattern = pattern(bits);
        // SAFETY: words in which cells of the run lie, aligned as words are. Both ends of all cells are in words within the bytes.
        let differ = |word: usize| unsafe { self.words.add(word).read_volatile() ^ pattern };
        let ends = match first == last {
            true => differ(first) & head & tail,
            false => differ(first) & head | differ(last) & tail,
        };
        (first + 1..last).fold(ends, |all, word| all | differ(word)) == 0
    }
}

/// As many cells of these bits as fit a word.
#[inline]
fn pattern<W: Pod>(bits: W) -> u64 {
    let mut pattern = [0; WORD];
    pattern.chunks_exact_mut(size_of::<W>()).for_each(|cell| cell.copy_from_slice(bytemuck::bytes_of(&bits)));
    u64::from_ne_bytes(pattern)
}

impl<W: Pod + PartialEq> SharedCells<'_, W> {
    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// Some of them.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline]
    pub(crate) fn slice(self, range: Range<usize>) -> Self {
        let length = range.end.checked_sub(range.start).filter(|_| range.end <= self.length);
        let length = length.expect("a range within the cells");
        Self { start: self.start.wrapping_add(range.start), length, ..self }
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> W {
        assert!(index < self.length, "cell {index} of {}", self.length);
        // SAFETY: a cell within them, aligned as they are.
        unsafe { self.start.add(index).read_volatile() }
    }

    /// The runs between `bounds`, if words can be read across their ends.
    #[inline]
    pub(crate) fn runs<'b>(&'b self, bounds: &'b [usize]) -> Option<SharedRuns<'b, W>> {
        let (start, end) = (self.start.addr(), self.start.addr() + self.length * size_of::<W>());
        let before = start % WORD;
        let within = start - before >= self.bytes.start && end.next_multiple_of(WORD) <= self.bytes.end;
        let words = self.start.cast::<u8>().wrapping_sub(before).cast();
        within.then_some(SharedRuns { words, before, length: self.length, bounds, of: PhantomData })
    }

    /// True if all of them have these bits.
    #[inline]
    pub(crate) fn all_are(&self, bits: W) -> bool {
        // As many cells as fit a word at a time, so that one loop serves all widths; a branch for every few of them, so that a mixed
        // row ends soon.
        let (pattern, each) = (pattern(bits), WORD / size_of::<W>());
        let head = self.start.cast::<u8>().align_offset(WORD) / size_of::<W>();
        let head = head.min(self.length);
        let words = (self.length - head) / each;
        let one_by_one = |mut cells: Range<usize>| cells.all(|index| self.get(index) == bits);
        // SAFETY: words within the cells, where they are aligned.
        let differ = |some: Range<usize>| unsafe {
            let from = self.start.add(head).cast::<u64>();
            some.fold(0, |all, index| all | (from.add(index).read_volatile() ^ pattern))
        };
        if !one_by_one(0..head) {
            return false;
        }
        let mut first = 0;
        while first < words {
            let next = words.min(first + AT_ONCE);
            if differ(first..next) != 0 {
                return false;
            }
            first = next;
        }
        one_by_one(head + words * each..self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<W: Pod + PartialEq>(ones: W) {
        let most = 64 / size_of::<W>();
        for (skip, each) in (0..=WORD / size_of::<W>()).flat_map(|skip| (1..=most).map(move |each| (skip, each))) {
            let count = 5;
            let bounds: Vec<_> = (0..=count).map(|run| run * each).collect();
            let mut cells = vec![ones; skip + count * each + WORD];
            cells[skip..skip + count * each].fill(W::zeroed());
            for different in [None, Some(0), Some(each - 1), Some(each), Some(3 * each - 1), Some(count * each - 1)] {
                if let Some(different) = different {
                    cells[skip + different] = ones;
                }
                let row = SharedBytes::of(bytemuck::cast_slice(&cells)).cells::<W>().slice(skip..skip + count * each);
                // Words lie across both ends only where there are bytes.
                let Some(runs) = row.runs(&bounds) else {
                    assert!(skip * size_of::<W>() < WORD);
                    continue;
                };
                for run in 0..count {
                    let same = different.is_none_or(|different| different / each != run);
                    assert_eq!(runs.all_are(run, W::zeroed()), same, "{skip} {each} {different:?} {run}");
                    assert_eq!(row.slice(bounds[run]..bounds[run + 1]).all_are(W::zeroed()), same);
                }
                if let Some(different) = different {
                    cells[skip + different] = W::zeroed();
                }
            }
        }
    }

    #[test]
    fn runs_are_what_their_cells_are() {
        check(1u8);
        check(0x100u16);
        check(1u32 << 31);
        check(1u64 << 63);
    }
}
