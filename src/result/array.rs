//! The labels of a dense domain, or of a window of it, and the canvas that workers paint them on.
//!
//! A [`DenseArray`] is stored with axis 0 fastest; as an ndarray or a `.npy` file (C order) its shape is
//! [n_{k-1}, .., n_1, n_0]. Workers write through a `Canvas`, which leaves out what the array does not cover: regions of a
//! subdivision tile the domain, so writes
//! never meet, but no type can say so; the canvas therefore is the one place where the crate writes through a shared
//! pointer, and its methods are `unsafe` with that one condition.

use std::marker::PhantomData;

use ndarray::{ArrayViewD, IxDyn};
use xxhash_rust::xxh3::Xxh3;

use crate::cell::{Cell, CellType, Words};
use crate::geometry::{Region, Rows};
use crate::result::cells::{Bits, Cells, Width, each_width};
use crate::result::checksum::append_le;
use crate::result::limit::{MemoryError, Stored};

/// XXH3-64 over cells in storage order, little-endian, fed piece by piece.
#[derive(Default)]
pub(crate) struct Checksum(Xxh3);

impl Checksum {
    /// The next bytes.
    pub(crate) fn add(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// `xxh3:` and sixteen hexadecimal digits.
    pub(crate) fn text(&self) -> String {
        format!("xxh3:{:016x}", self.0.digest())
    }
}

/// The labels of every cell of a domain, or of a box of its cells: the window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseArray<const K: usize> {
    window: Region<K>,
    cells: Cells,
}

impl<const K: usize> DenseArray<K> {
    /// An array of zeros, which is `what`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn zeroed(what: Stored, window: Region<K>, kind: CellType) -> Result<Self, MemoryError> {
        let len = window.extent.iter().fold(1usize, |len, &n| len.saturating_mul(n as usize));
        let cells = Cells::zeroed(kind, len).map_err(MemoryError::refused(what))?;
        each_width!(cells.bits(), v => advise_huge_pages(v));
        Ok(Self { window, cells })
    }

    /// An array over another window, in the memory of this one if that is enough. What it holds is not said.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn over(self, window: Region<K>) -> Result<Self, MemoryError> {
        if self.window.extent == window.extent {
            return Ok(Self { window, ..self });
        }
        let cells = self.cells.resized(window.volume() as usize).map_err(MemoryError::refused(Stored::Dense))?;
        each_width!(cells.bits(), v => advise_huge_pages(v));
        Ok(Self { window, cells })
    }

    /// The same array once more.
    pub(crate) fn copy(&self) -> Result<Self, MemoryError> {
        let cells = self.cells.copy().map_err(MemoryError::refused(Stored::Materialised))?;
        Ok(Self { window: self.window, cells })
    }

    /// The cells that it covers: the whole domain, unless a window was chosen.
    pub fn window(&self) -> Region<K> {
        self.window
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> [u32; K] {
        self.window.extent
    }

    /// The labels in storage order.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The count that one cell of the domain holds.
    ///
    /// # Panics
    /// If the cell is outside the window.
    pub fn label(&self, cell: [u32; K]) -> u64 {
        assert!(self.window.contains_cell(cell), "cell {cell:?} is outside the window");
        self.cells.label(index(&self.window, cell))
    }

    /// The word of one cell of the domain.
    ///
    /// # Panics
    /// If the cell is outside the window.
    pub fn word(&self, cell: [u32; K]) -> u64 {
        assert!(self.window.contains_cell(cell), "cell {cell:?} is outside the window");
        self.cells.word(index(&self.window, cell))
    }

    /// The labels in storage order, to be written.
    pub(crate) fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// The storage indices of the row along axis 0 through a cell of the window.
    pub fn row(&self, mut cell: [u32; K]) -> std::ops::Range<usize> {
        cell[0] = self.window.corner[0];
        let start = index(&self.window, cell);
        start..start + self.window.extent[0] as usize
    }

    /// Appends the cells of a region of the window in its storage order, as little-endian bytes.
    pub(crate) fn append_le(&self, region: &Region<K>, bytes: &mut Vec<u8>) {
        let rows = Rows::of(region, &self.window);
        rows.each(|start| append_le(&self.cells, start..start + rows.len(), bytes));
    }

    /// XXH3-64 over the cells in storage order, little-endian, as `xxh3:` and sixteen hexadecimal digits.
    pub fn checksum(&self) -> String {
        let mut checksum = Checksum::default();
        let fed: Result<(), std::convert::Infallible> = self.cells.le_bytes(0..self.cells.len(), |bytes| {
            checksum.add(bytes);
            Ok(())
        });
        fed.expect("hashing cannot fail");
        checksum.text()
    }

    /// A view as an ndarray of shape [n_{k-1}, .., n_0]; None if cells are of another type.
    ///
    /// ```
    /// # use orthant::prelude::*;
    /// # let domain = Domain::new([3, 2], [[0.0, 1.0]; 2], Sample::Corner)?;
    /// # let plan = Plan::new(domain, Scheme::uniform(1, 2, 1), CurveKind::Morton, RuleKind::Full)?;
    /// let subdivision = run(&plan, &CellField::new(9, |[x, y]| x + 3 * y))?;
    /// let array = subdivision.array().unwrap().view::<u16>().unwrap();
    /// assert_eq!((array.shape(), array[[1, 2]]), (&[2, 3][..], 5));
    /// # Ok::<(), Error>(())
    /// ```
    pub fn view<T: Cell>(&self) -> Option<ArrayViewD<'_, T>> {
        let shape = IxDyn(&self.size().iter().rev().map(|&n| n as usize).collect::<Vec<_>>());
        let cells = self.cells.as_slice::<T>()?;
        Some(ArrayViewD::from_shape(shape, cells).expect("as many cells as the shape says"))
    }

    /// Overwrites cells from `start` on with little-endian bytes.
    pub(crate) fn store(&mut self, start: usize, bytes: &[u8]) {
        self.cells.store(start, bytes);
    }

    /// Overwrites every cell with copies of a byte, so that one that is never written shows.
    pub(crate) fn poison(&mut self, byte: u8) {
        self.cells.poison(byte);
    }

    /// Sets the cells of a region that the window covers to the low bits of a word.
    #[allow(unsafe_code)]
    pub(crate) fn fill(&mut self, region: &Region<K>, word: u64) {
        // SAFETY: nobody else has the array.
        unsafe { self.unwatched().fill(region, word) }
    }

    /// Sets the cells of a region that the window covers to the low bits of words, which come in storage order of the region.
    #[allow(unsafe_code)]
    pub(crate) fn write(&mut self, region: &Region<K>, words: Words<'_>) {
        // SAFETY: nobody else has the array.
        unsafe { self.unwatched().write(region, words) }
    }

    /// A canvas of which every cell is painted once at most. Debug builds see to it.
    pub(crate) fn canvas(&mut self) -> Canvas<'_, K> {
        let cells = self.cells.len();
        Canvas { painted: Painted::new(cells), ..self.unwatched() }
    }

    /// A canvas for whoever paints alone.
    fn unwatched(&mut self) -> Canvas<'_, K> {
        let pixels = match self.cells.bits_mut() {
            Bits::B1(v) => Pixels::B1(v.as_mut_ptr()),
            Bits::B2(v) => Pixels::B2(v.as_mut_ptr()),
            Bits::B4(v) => Pixels::B4(v.as_mut_ptr()),
            Bits::B8(v) => Pixels::B8(v.as_mut_ptr()),
        };
        Canvas { window: self.window, pixels, painted: Painted::default(), array: PhantomData }
    }
}

/// Σ c_j·∏_{i<j} n_i, modulo 2^64: beyond the array it means nothing by itself, but differences do.
fn linear<const K: usize>(size: &[u32; K], cell: [u32; K]) -> usize {
    (0..K).rev().fold(0, |index: usize, j| index.wrapping_mul(size[j] as usize).wrapping_add(cell[j] as usize))
}

/// The storage index of a cell of a window.
fn index<const K: usize>(window: &Region<K>, cell: [u32; K]) -> usize {
    linear(&window.extent, cell).wrapping_sub(linear(&window.extent, window.corner))
}

/// Asks for huge pages under a large array: its first touch then costs a fault per 2 MiB instead of one per 4 KiB, which
/// for a subdivision that writes most of its cells only once is a fifth of the run.
fn advise_huge_pages<T>(cells: &[T]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 12;
        let start = (cells.as_ptr() as usize).next_multiple_of(PAGE);
        let end = (cells.as_ptr() as usize + size_of_val(cells)) & !(PAGE - 1);
        if start + (4 << 20) <= end {
            // SAFETY: whole pages of one live allocation; the advice changes no contents. A refusal changes nothing.
            #[allow(unsafe_code)]
            let _ = unsafe { libc::madvise(start as *mut libc::c_void, end - start, libc::MADV_HUGEPAGE) };
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = cells;
}

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
    array: PhantomData<&'a mut DenseArray<K>>,
}

// SAFETY: the canvas borrows the array exclusively, and its only accesses are `fill` and `write`, whose callers promise
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
        cells.iter_mut().zip(words).for_each(|(cell, &word)| *cell = W::cut(word.into()));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Domain, Sample};

    #[test]
    fn storage_order_checksum_and_view() {
        let domain = Domain::new([3, 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let mut array = DenseArray::zeroed(Stored::Dense, domain.region(), CellType::U16).unwrap();
        array.write(&domain.region(), Words::Narrow(&[1, 2, 3, 4, 5, 6]));
        array.fill(&Region { corner: [1, 1], extent: [2, 1] }, 9);
        assert_eq!(array.cells().as_slice(), Some(&[1u16, 2, 3, 4, 9, 9][..]));
        assert_eq!(array.label([0, 1]), 4);
        assert_eq!(array.view::<i16>(), None);
        let view = array.view::<u16>().unwrap();
        assert_eq!((view.shape(), view[[0, 2]], view[[1, 0]]), (&[2, 3][..], 3, 4));
        let bytes: Vec<u8> = [1u16, 2, 3, 4, 9, 9].iter().flat_map(|c| c.to_le_bytes()).collect();
        assert_eq!(array.checksum(), format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)));
    }

    /// Painted whole and through windows, the cells of a window are the same, and no others are touched.
    #[test]
    fn a_window_shows_what_lies_in_it() {
        let whole = Region { corner: [0; 3], extent: [5, 4, 3] };
        let parts = [
            Region { corner: [1, 0, 1], extent: [3, 2, 2] },
            Region { corner: [0, 1, 0], extent: [2, 3, 3] },
            Region { corner: [4, 3, 2], extent: [1, 1, 1] },
        ];
        let paint = |window: Region<3>| {
            let mut array = DenseArray::zeroed(Stored::Dense, window, CellType::U32).unwrap();
            for (i, part) in parts.iter().enumerate() {
                let words: Vec<u32> = (0..part.volume() as u32).map(|cell| 100 * (i as u32 + 1) + cell).collect();
                array.fill(&whole, 7);
                array.write(part, Words::Narrow(&words));
            }
            array
        };
        let all = paint(whole);
        for (corner, extent) in whole.cells().flat_map(|c| [[1, 1, 1], [2, 3, 1], [5, 1, 2]].map(|e| (c, e))) {
            let Some(window) = whole.intersection(&Region { corner, extent }) else { continue };
            let array = paint(window);
            assert_eq!((array.window(), array.size()), (window, window.extent));
            for (i, cell) in window.cells().enumerate() {
                assert_eq!(
                    (array.label(cell), array.cells().label(i)),
                    (all.label(cell), all.label(cell)),
                    "{window:?}"
                );
            }
        }
    }

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

    #[test]
    fn windows_share_memory_while_it_is_large_enough() {
        let box_of = |extent| Region { corner: [3, 4], extent };
        let address = |array: &DenseArray<2>| array.cells().as_slice::<u16>().unwrap().as_ptr();
        let first = DenseArray::zeroed(Stored::Dense, box_of([10, 10]), CellType::U16).unwrap();
        let kept = address(&first);
        let small = first.over(box_of([5, 7])).unwrap();
        assert_eq!((address(&small), small.cells().len(), small.window()), (kept, 35, box_of([5, 7])));
        let again = small.over(box_of([20, 5])).unwrap();
        assert_eq!((address(&again), again.cells().len()), (kept, 100));
        assert_eq!(again.over(box_of([20, 6])).unwrap().cells().len(), 120);
    }
}
