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
pub(crate) struct SharedBytes<'s> {
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

impl<'s> SharedBytes<'s> {
    /// Those of memory, which nobody changes.
    pub(crate) fn of(bytes: &'s [u8]) -> Self {
        Self { start: bytes.as_ptr(), length: bytes.len(), mapping: None, lives: PhantomData }
    }

    /// Some of those of a file.
    ///
    /// # Panics
    /// If it had not as many when it was mapped.
    pub(crate) fn mapped(map: &'s FileMap, range: Range<usize>) -> Self {
        Self { start: map.start(), length: map.len(), mapping: Some(map), lives: PhantomData }.slice(range)
    }

    /// Some of them.
    ///
    /// # Panics
    /// If there are not as many.
    #[inline]
    pub(crate) fn slice(self, range: Range<usize>) -> Self {
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
    pub(crate) fn copy_to(self, to: &mut [u8]) {
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
        SharedCells { start: self.start.cast(), length: self.length / size_of::<W>(), lives: PhantomData }
    }
}

/// Cells of such bytes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedCells<'s, W> {
    start: *const W,
    length: usize,
    lives: PhantomData<&'s [W]>,
}

// SAFETY: as for their bytes.
unsafe impl<W: Sync> Send for SharedCells<'_, W> {}
// SAFETY: as for their bytes.
unsafe impl<W: Sync> Sync for SharedCells<'_, W> {}

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

    /// True if all of them have these bits.
    #[inline]
    pub(crate) fn all_are(&self, bits: W) -> bool {
        // As many cells as fit a word at a time, so that one loop serves all widths; a branch for every few of them, so that a mixed
        // row ends soon.
        let mut pattern = [0; WORD];
        pattern.chunks_exact_mut(size_of::<W>()).for_each(|cell| cell.copy_from_slice(bytemuck::bytes_of(&bits)));
        let (pattern, each) = (u64::from_ne_bytes(pattern), WORD / size_of::<W>());
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
            let next = words.min(first + 64);
            if differ(first..next) != 0 {
                return false;
            }
            first = next;
        }
        one_by_one(head + words * each..self.length)
    }
}
