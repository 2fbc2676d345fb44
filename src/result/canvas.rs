//! The canvas that workers paint the cells of a dense array on.
//!
//! Workers write through a [`Canvas`], which leaves out what the array does not cover. The regions of a subdivision tile the
//! domain, so that no two workers write the same cell, but no type can say so. The canvas is therefore the one place where the
//! crate writes through a shared pointer. Its methods are `unsafe`, and that is their one condition.

use std::marker::PhantomData;

use crate::cell::Words;
use crate::geometry::{Region, Rows};
use crate::result::cells::{Bits, Cells, Width};

/// Where the cells lie, by their width.
#[derive(Clone, Copy)]
enum Pixels {
    B1(*mut u8),
    B2(*mut u16),
    B4(*mut u32),
    B8(*mut u64),
}

/// Which cells of a canvas are painted, a bit for each: in debug builds, where there is memory for it.
#[derive(Default)]
struct Painted {
    #[cfg(debug_assertions)]
    bits: Option<std::sync::Mutex<Vec<u64>>>,
}

impl Painted {
    /// None of so many cells.
    #[cfg_attr(not(debug_assertions), expect(unused_variables))]
    fn new(cells: usize) -> Self {
        Self {
            #[cfg(debug_assertions)]
            bits: crate::memory::zeros(cells.div_ceil(64)).ok().map(std::sync::Mutex::new),
        }
    }

    /// Notes that cells are painted.
    ///
    /// # Panics
    /// In debug builds, if one of them was painted before: two regions overlap, and two workers may write to it at once.
    #[inline]
    #[cfg_attr(not(debug_assertions), expect(unused_variables))]
    fn note(&self, cells: std::ops::Range<usize>) {
        #[cfg(debug_assertions)]
        if let Some(bits) = &self.bits {
            let mut bits = bits.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let mut at = cells.start;
            while at < cells.end {
                let end = cells.end.min((at / 64 + 1) * 64);
                let mask = u64::MAX >> (64 - (end - at)) << (at % 64);
                let again = bits[at / 64] & mask;
                assert!(
                    again == 0,
                    "cell {} is painted twice: regions overlap",
                    at / 64 * 64 + again.trailing_zeros() as usize
                );
                bits[at / 64] |= mask;
                at = end;
            }
        }
    }
}

/// An array that many workers write at once, each its own regions.
pub(crate) struct Canvas<'a, const K: usize> {
    window: Region<K>,
    pixels: Pixels,
    painted: Painted,
    cells: PhantomData<&'a mut Cells>,
}

impl<'a, const K: usize> Canvas<'a, K> {
    /// Over the cells of a window, for one thread.
    pub(super) fn new(window: Region<K>, cells: &'a mut Cells) -> Self {
        let pixels = match cells.bits_mut() {
            Bits::B1(v) => Pixels::B1(v.as_mut_ptr()),
            Bits::B2(v) => Pixels::B2(v.as_mut_ptr()),
            Bits::B4(v) => Pixels::B4(v.as_mut_ptr()),
            Bits::B8(v) => Pixels::B8(v.as_mut_ptr()),
        };
        Self { window, pixels, painted: Painted::default(), cells: PhantomData }
    }

    /// Over the cells of a window, each of which is painted once at most. Debug builds check that.
    pub(super) fn watched(window: Region<K>, cells: &'a mut Cells) -> Self {
        let painted = Painted::new(cells.len());
        Self { painted, ..Self::new(window, cells) }
    }
}

// SAFETY: the canvas borrows the cells exclusively, and its only accesses are `fill` and `write`, whose callers promise
// that no two threads touch a common cell.
#[allow(unsafe_code)]
unsafe impl<const K: usize> Sync for Canvas<'_, K> {}

#[allow(unsafe_code)]
impl<const K: usize> Canvas<'_, K> {
    /// Sets every cell of `region` that is in the window to the low bits of `word`.
    ///
    /// # Safety
    /// No other thread accesses the region's cells meanwhile.
    #[inline]
    pub(crate) unsafe fn fill(&self, region: &Region<K>, word: u64) {
        let Some(region) = region.intersection(&self.window) else { return };
        // SAFETY: passed on; what is left of the region lies in the window.
        unsafe { self.pixels.fill(Rows::of(&region, &self.window), &self.painted, word) }
    }

    /// Sets the cells of `region` that are in the window to the low bits of `words`, which come in storage order of the region.
    ///
    /// # Safety
    /// No other thread accesses the region's cells meanwhile.
    #[inline]
    pub(crate) unsafe fn write(&self, region: &Region<K>, words: Words<'_>) {
        debug_assert_eq!(words.len() as u64, region.volume());
        let Some(inside) = region.intersection(&self.window) else { return };
        if inside == *region {
            // SAFETY: passed on.
            return unsafe { self.pixels.write(Rows::of(region, &self.window), &self.painted, words) };
        }
        // Of a row of the region the cells that the window covers.
        let (cut, len) = ((inside.corner[0] - region.corner[0]) as usize, inside.extent[0] as usize);
        let mut start = cut;
        for mut row in region.rows() {
            row[0] = inside.corner[0];
            if inside.contains_cell(row) {
                let mut part = Region { corner: row, extent: [1; K] };
                part.extent[0] = inside.extent[0];
                // SAFETY: passed on.
                unsafe {
                    let words = words.split_at(start).1.split_at(len).0;
                    self.pixels.write(Rows::of(&part, &self.window), &self.painted, words);
                }
            }
            start += region.extent[0] as usize;
        }
    }
}

#[allow(unsafe_code)]
impl Pixels {
    /// Sets every cell of some rows to the low bits of `word`.
    ///
    /// # Safety
    /// The rows lie in the allocation, and nobody else accesses them meanwhile.
    unsafe fn fill(self, rows: Rows, painted: &Painted, word: u64) {
        // SAFETY: passed on.
        match self {
            Self::B1(p) => unsafe { fill_rows(p, rows, painted, word) },
            Self::B2(p) => unsafe { fill_rows(p, rows, painted, word) },
            Self::B4(p) => unsafe { fill_rows(p, rows, painted, word) },
            Self::B8(p) => unsafe { fill_rows(p, rows, painted, word) },
        }
    }

    /// Sets the cells of some rows to the low bits of `words`, which are as many.
    ///
    /// # Safety
    /// As [`fill`](Self::fill).
    unsafe fn write(self, rows: Rows, painted: &Painted, words: Words<'_>) {
        // SAFETY: passed on.
        match (self, words) {
            (Self::B1(p), Words::Narrow(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B2(p), Words::Narrow(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B4(p), Words::Narrow(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B8(p), Words::Narrow(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B1(p), Words::Wide(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B2(p), Words::Wide(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B4(p), Words::Wide(words)) => unsafe { write_rows(p, rows, painted, words) },
            (Self::B8(p), Words::Wide(words)) => unsafe { write_rows(p, rows, painted, words) },
        }
    }
}

/// # Safety
/// As [`Pixels::fill`].
#[allow(unsafe_code)]
unsafe fn fill_rows<W: Width>(pixels: *mut W, rows: Rows, painted: &Painted, word: u64) {
    let (len, word) = (rows.len(), W::cut(word));
    rows.each(|start| {
        painted.note(start..start + len);
        // SAFETY: the row lies in the allocation; exclusive by this function's contract.
        unsafe { std::slice::from_raw_parts_mut(pixels.add(start), len) }.fill(word);
    });
}

/// # Safety
/// As [`Pixels::fill`].
#[allow(unsafe_code)]
unsafe fn write_rows<W: Width, V: Copy + Into<u64>>(pixels: *mut W, rows: Rows, painted: &Painted, words: &[V]) {
    let len = rows.len();
    let mut words = words.chunks_exact(len);
    rows.each(|start| {
        painted.note(start..start + len);
        // SAFETY: the row lies in the allocation; exclusive by this function's contract.
        let cells = unsafe { std::slice::from_raw_parts_mut(pixels.add(start), len) };
        let Some(words) = words.next() else { return };
        let words = &words[..cells.len()];
        for i in 0..cells.len() {
            cells[i] = W::cut(words[i].into());
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::CellType;
    use crate::result::{DenseArray, Stored};

    /// Several workers paint regions that tile a window, and all cells are what they painted.
    #[test]
    #[allow(unsafe_code)]
    fn workers_paint_what_tiles_a_window() {
        let window = Region { corner: [3, 2], extent: [21, 5] };
        let mut array = DenseArray::zeroed(Stored::Dense, window, CellType::U16).unwrap();
        let (left, right) = (Region { corner: [0, 0], extent: [11, 9] }, Region { corner: [11, 2], extent: [13, 5] });
        let words: Vec<u32> = (0..right.volume() as u32).collect();
        let canvas = array.canvas();
        std::thread::scope(|scope| {
            // SAFETY: the two have no cell in common.
            scope.spawn(|| unsafe { canvas.fill(&left, 9000) });
            scope.spawn(|| unsafe { canvas.write(&right, Words::Narrow(&words)) });
        });
        for cell in window.cells() {
            let expected = if cell[0] < 11 { 9000 } else { u64::from(cell[0] - 11 + 13 * (cell[1] - 2)) };
            assert_eq!(array.label(cell), expected, "{cell:?}");
        }
    }

    /// Regions that have a cell in common are no subdivision, and what paints them is told.
    #[test]
    #[cfg(debug_assertions)]
    #[should_panic(expected = "cell 25 is painted twice: regions overlap")]
    #[allow(unsafe_code)]
    fn overlaps_are_seen() {
        let window = Region { corner: [0; 2], extent: [10, 10] };
        let mut array = DenseArray::zeroed(Stored::Dense, window, CellType::U8).unwrap();
        let canvas = array.canvas();
        // SAFETY: there is one thread.
        unsafe {
            canvas.fill(&Region { corner: [0; 2], extent: [6, 3] }, 1);
            canvas.write(&Region { corner: [5, 2], extent: [2, 2] }, Words::Narrow(&[2; 4]));
        }
    }
}
