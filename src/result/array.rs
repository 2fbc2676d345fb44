//! The labels of a dense domain, and the canvas that workers paint them on.
//!
//! A [`DenseArray`] is stored with axis 0 fastest; as an ndarray or a `.npy` file (C order) its shape is
//! [n_{k-1}, .., n_1, n_0]. Workers write through a `Canvas`: regions of a subdivision tile the domain, so writes
//! never meet, but no type can say so; the canvas therefore is the one place where the crate writes through a shared
//! pointer, and its methods are `unsafe` with that one condition.

use std::marker::PhantomData;

use ndarray::{ArrayViewD, IxDyn};
use xxhash_rust::xxh3::Xxh3;

use crate::cell::{Cell, CellType, Words};
use crate::geometry::Region;
use crate::result::cells::{Bits, Cells, Width, each_width};
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

/// The labels of every cell of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DenseArray<const K: usize> {
    size: [u32; K],
    cells: Cells,
}

impl<const K: usize> DenseArray<K> {
    /// An array of zeros, which is `what`.
    ///
    /// # Errors
    /// If there is no memory for it.
    pub(crate) fn zeroed(what: Stored, size: [u32; K], kind: CellType) -> Result<Self, MemoryError> {
        let len = size.iter().fold(1usize, |len, &n| len.saturating_mul(n as usize));
        let cells = Cells::zeroed(kind, len).map_err(MemoryError::refused(what))?;
        each_width!(cells.bits(), v => advise_huge_pages(v));
        Ok(Self { size, cells })
    }

    /// The same array once more.
    pub(crate) fn copy(&self) -> Result<Self, MemoryError> {
        let cells = self.cells.copy().map_err(MemoryError::refused(Stored::Materialised))?;
        Ok(Self { size: self.size, cells })
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> [u32; K] {
        self.size
    }

    /// The labels in storage order.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The count that one cell holds.
    ///
    /// # Panics
    /// If the cell is outside the domain.
    pub fn label(&self, cell: [u32; K]) -> u64 {
        assert!((0..K).all(|j| cell[j] < self.size[j]), "cell {cell:?} is outside the domain");
        self.cells.label(linear(&self.size, cell))
    }

    /// The first storage index of the row along axis 0 through `cell`, and its length.
    pub fn row(&self, mut cell: [u32; K]) -> std::ops::Range<usize> {
        cell[0] = 0;
        let start = linear(&self.size, cell);
        start..start + self.size[0] as usize
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
        let shape = IxDyn(&self.size.iter().rev().map(|&n| n as usize).collect::<Vec<_>>());
        let cells = self.cells.as_slice::<T>()?;
        Some(ArrayViewD::from_shape(shape, cells).expect("as many cells as the shape says"))
    }

    /// Overwrites cells from `start` on with native-endian bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn store(&mut self, start: usize, bytes: &[u8]) {
        self.cells.store(start, bytes);
    }

    /// Overwrites every cell with copies of a byte, so that one that is never written shows.
    pub(crate) fn poison(&mut self, byte: u8) {
        self.cells.poison(byte);
    }

    pub(crate) fn canvas(&mut self) -> Canvas<'_, K> {
        let pixels = match self.cells.bits_mut() {
            Bits::B1(v) => Pixels::B1(v.as_mut_ptr()),
            Bits::B2(v) => Pixels::B2(v.as_mut_ptr()),
            Bits::B4(v) => Pixels::B4(v.as_mut_ptr()),
            Bits::B8(v) => Pixels::B8(v.as_mut_ptr()),
        };
        Canvas { size: self.size, pixels, array: PhantomData }
    }
}

/// The storage index of `cell`: Σ c_j·∏_{i<j} n_i.
fn linear<const K: usize>(size: &[u32; K], cell: [u32; K]) -> usize {
    (0..K).rev().fold(0, |index, j| index * size[j] as usize + cell[j] as usize)
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

/// An array that many workers write at once, each its own regions.
pub(crate) struct Canvas<'a, const K: usize> {
    size: [u32; K],
    pixels: Pixels,
    array: PhantomData<&'a mut DenseArray<K>>,
}

// SAFETY: the canvas borrows the array exclusively, and its only accesses are `fill` and `write`, whose callers promise
// that no two threads touch a common cell.
#[allow(unsafe_code)]
unsafe impl<const K: usize> Sync for Canvas<'_, K> {}

#[allow(unsafe_code)]
impl<const K: usize> Canvas<'_, K> {
    /// Sets every cell of `region` to the low bits of `word`.
    ///
    /// # Safety
    /// `region` lies in the domain, and no other thread accesses its cells meanwhile.
    #[inline]
    pub(crate) unsafe fn fill(&self, region: &Region<K>, word: u64) {
        // SAFETY: passed on.
        match self.pixels {
            Pixels::B1(p) => unsafe { self.fill_width(p, region, word) },
            Pixels::B2(p) => unsafe { self.fill_width(p, region, word) },
            Pixels::B4(p) => unsafe { self.fill_width(p, region, word) },
            Pixels::B8(p) => unsafe { self.fill_width(p, region, word) },
        }
    }

    /// # Safety
    /// As [`fill`](Self::fill); `pixels` are those of the array.
    #[inline]
    unsafe fn fill_width<W: Width>(&self, pixels: *mut W, region: &Region<K>, word: u64) {
        let len = region.extent[0] as usize;
        for row in region.rows() {
            let start = linear(&self.size, row);
            // SAFETY: the row lies in the domain, so in the allocation; exclusive by this function's contract.
            unsafe { std::slice::from_raw_parts_mut(pixels.add(start), len) }.fill(W::cut(word));
        }
    }

    /// Sets the cells of `region` to the low bits of `words`, which come in storage order of the region.
    ///
    /// # Safety
    /// `region` lies in the domain, and no other thread accesses its cells meanwhile.
    #[inline]
    pub(crate) unsafe fn write(&self, region: &Region<K>, words: Words<'_>) {
        // SAFETY: passed on.
        match self.pixels {
            Pixels::B1(p) => unsafe { self.write_width(p, region, words) },
            Pixels::B2(p) => unsafe { self.write_width(p, region, words) },
            Pixels::B4(p) => unsafe { self.write_width(p, region, words) },
            Pixels::B8(p) => unsafe { self.write_width(p, region, words) },
        }
    }

    /// # Safety
    /// As [`write`](Self::write); `pixels` are those of the array.
    #[inline]
    unsafe fn write_width<W: Width>(&self, pixels: *mut W, region: &Region<K>, words: Words<'_>) {
        // SAFETY: passed on.
        match words {
            Words::Narrow(words) => unsafe { self.write_rows(pixels, region, words) },
            Words::Wide(words) => unsafe { self.write_rows(pixels, region, words) },
        }
    }

    /// # Safety
    /// As [`write_width`](Self::write_width).
    #[inline]
    unsafe fn write_rows<W: Width, V: Copy + Into<u64>>(&self, pixels: *mut W, region: &Region<K>, words: &[V]) {
        debug_assert_eq!(words.len() as u64, region.volume());
        for (row, words) in region.rows().zip(words.chunks_exact(region.extent[0] as usize)) {
            let start = linear(&self.size, row);
            // SAFETY: the row lies in the domain, so in the allocation; exclusive by this function's contract.
            let cells = unsafe { std::slice::from_raw_parts_mut(pixels.add(start), words.len()) };
            cells.iter_mut().zip(words).for_each(|(cell, &word)| *cell = W::cut(word.into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geometry::{Domain, Sample};

    #[test]
    #[allow(unsafe_code)]
    fn storage_order_checksum_and_view() {
        let domain = Domain::new([3, 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let mut array = DenseArray::zeroed(Stored::Dense, domain.size(), CellType::U16).unwrap();
        let canvas = array.canvas();
        // SAFETY: one thread.
        unsafe {
            canvas.write(&domain.region(), Words::Narrow(&[1, 2, 3, 4, 5, 6]));
            canvas.fill(&Region { corner: [1, 1], extent: [2, 1] }, 9);
        }
        assert_eq!(array.cells().as_slice(), Some(&[1u16, 2, 3, 4, 9, 9][..]));
        assert_eq!(array.label([0, 1]), 4);
        assert_eq!(array.view::<i16>(), None);
        let view = array.view::<u16>().unwrap();
        assert_eq!((view.shape(), view[[0, 2]], view[[1, 0]]), (&[2, 3][..], 3, 4));
        let bytes: Vec<u8> = [1u16, 2, 3, 4, 9, 9].iter().flat_map(|c| c.to_le_bytes()).collect();
        assert_eq!(array.checksum(), format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)));
    }
}
