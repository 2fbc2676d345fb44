//! The labels of a dense domain, and the canvas that workers paint them on.
//!
//! A [`Field`] is stored with axis 0 fastest; as an ndarray or a `.npy` file (C order) its shape is
//! [n_{k-1}, .., n_1, n_0]. Workers write through a `Canvas`: regions of a subdivision tile the domain, so writes
//! never meet, but no type can say so; the canvas therefore is the one place where the crate writes through a shared
//! pointer, and its methods are `unsafe` with that one condition.

use std::marker::PhantomData;

use ndarray::{ArrayViewD, IxDyn};
#[cfg(feature = "cuda")]
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use crate::domain::Domain;
use crate::region::Region;
use crate::registry::registry;

registry! {
    /// The type of a stored cell.
    pub enum CellType("cell type") {
        /// Two bytes; labels up to 65535.
        U16 = "u16",
        /// Four bytes, to compare with other codes.
        I32 = "i32",
    }
}

impl CellType {
    /// Bytes per cell.
    pub fn bytes(self) -> u64 {
        match self {
            Self::U16 => 2,
            Self::I32 => 4,
        }
    }

    /// The largest label it can hold.
    pub fn max_label(self) -> u32 {
        match self {
            Self::U16 => u32::from(u16::MAX),
            Self::I32 => i32::MAX as u32,
        }
    }
}

/// Labels in one of the cell types, in a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cells {
    /// `--cell u16`.
    U16(Vec<u16>),
    /// `--cell i32`.
    I32(Vec<i32>),
}

/// Runs one body for whichever type is stored.
macro_rules! each_type {
    ($cells:expr, $v:ident => $body:expr) => {
        match $cells {
            Cells::U16($v) => $body,
            Cells::I32($v) => $body,
        }
    };
}

/// A cell from its bytes.
#[cfg(feature = "cuda")]
trait FromNative {
    fn from_native(bytes: &[u8]) -> Self;
}

#[cfg(feature = "cuda")]
impl FromNative for u16 {
    fn from_native(bytes: &[u8]) -> Self {
        Self::from_ne_bytes([bytes[0], bytes[1]])
    }
}

#[cfg(feature = "cuda")]
impl FromNative for i32 {
    fn from_native(bytes: &[u8]) -> Self {
        Self::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

impl Cells {
    pub(crate) fn zeroed(kind: CellType, len: usize) -> Self {
        match kind {
            CellType::U16 => Self::U16(vec![0; len]),
            CellType::I32 => Self::I32(vec![0; len]),
        }
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        match self {
            Self::U16(_) => CellType::U16,
            Self::I32(_) => CellType::I32,
        }
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        each_type!(self, v => v.len())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of cell `index`.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn label(&self, index: usize) -> u32 {
        each_type!(self, v => v[index] as u32)
    }

    /// Appends labels; the caller has checked that they fit the cell type.
    pub(crate) fn extend(&mut self, labels: &[u32]) {
        match self {
            Self::U16(v) => v.extend(labels.iter().map(|&label| label as u16)),
            Self::I32(v) => v.extend(labels.iter().map(|&label| label as i32)),
        }
    }

    /// Overwrites cells from `start` on with native-endian bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn store(&mut self, start: usize, bytes: &[u8]) {
        each_type!(self, v => {
            let width = size_of_val(&v[0]);
            let cells = &mut v[start..start + bytes.len() / width];
            // Pieces in parallel: a fresh array is mapped page by page as it is written.
            cells.par_chunks_mut(1 << 16).zip(bytes.par_chunks(width << 16)).for_each(|(cells, bytes)| {
                cells.iter_mut().zip(bytes.chunks_exact(width)).for_each(|(cell, bytes)| {
                    *cell = FromNative::from_native(bytes);
                });
            });
        });
    }

    /// Appends the cells `range` of others of the same type.
    #[cfg(feature = "cuda")]
    pub(crate) fn extend_from(&mut self, others: &Self, range: std::ops::Range<usize>) {
        match (self, others) {
            (Self::U16(v), Self::U16(w)) => v.extend_from_slice(&w[range]),
            (Self::I32(v), Self::I32(w)) => v.extend_from_slice(&w[range]),
            _ => unreachable!("a run stores one cell type"),
        }
    }

    /// Appends cells of the same type.
    pub(crate) fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::U16(v), Self::U16(w)) => v.extend(w),
            (Self::I32(v), Self::I32(w)) => v.extend(w),
            _ => unreachable!("a run stores one cell type"),
        }
    }

    /// Feeds the little-endian bytes of the cells `range` to `sink`, in pieces.
    pub fn le_bytes<E>(
        &self,
        range: std::ops::Range<usize>,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut bytes = Vec::with_capacity(1 << 16);
        each_type!(self, v => {
            for piece in v[range].chunks((1 << 16) / size_of_val(&v[0])) {
                bytes.clear();
                bytes.extend(piece.iter().flat_map(|cell| cell.to_le_bytes()));
                sink(&bytes)?;
            }
        });
        Ok(())
    }
}

/// The labels of every cell of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field<const K: usize> {
    size: [u32; K],
    cells: Cells,
}

impl<const K: usize> Field<K> {
    /// A field of zeros; the caller has checked that it fits memory.
    pub(crate) fn zeroed(domain: &Domain<K>, kind: CellType) -> Self {
        let cells = Cells::zeroed(kind, domain.cells() as usize);
        each_type!(&cells, v => advise_huge_pages(v));
        Self { size: domain.size(), cells }
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> [u32; K] {
        self.size
    }

    /// The labels in storage order.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The label of one cell.
    ///
    /// # Panics
    /// If the cell is outside the domain.
    pub fn label(&self, cell: [u32; K]) -> u32 {
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
        let mut hash = Xxh3::new();
        let fed: Result<(), std::convert::Infallible> = self.cells.le_bytes(0..self.cells.len(), |bytes| {
            hash.update(bytes);
            Ok(())
        });
        fed.expect("hashing cannot fail");
        format!("xxh3:{:016x}", hash.digest())
    }

    /// A view of the labels as an ndarray of shape [n_{k-1}, .., n_0], if cells are u16.
    pub fn view_u16(&self) -> Option<ArrayViewD<'_, u16>> {
        match &self.cells {
            Cells::U16(v) => Some(ArrayViewD::from_shape(self.shape(), v).expect("as many cells as the shape says")),
            Cells::I32(_) => None,
        }
    }

    /// A view of the labels as an ndarray of shape [n_{k-1}, .., n_0], if cells are i32.
    pub fn view_i32(&self) -> Option<ArrayViewD<'_, i32>> {
        match &self.cells {
            Cells::I32(v) => Some(ArrayViewD::from_shape(self.shape(), v).expect("as many cells as the shape says")),
            Cells::U16(_) => None,
        }
    }

    fn shape(&self) -> IxDyn {
        IxDyn(&self.size.iter().rev().map(|&n| n as usize).collect::<Vec<_>>())
    }

    /// Overwrites cells from `start` on with native-endian bytes.
    #[cfg(feature = "cuda")]
    pub(crate) fn store(&mut self, start: usize, bytes: &[u8]) {
        self.cells.store(start, bytes);
    }

    pub(crate) fn canvas(&mut self) -> Canvas<'_, K> {
        let pixels = match &mut self.cells {
            Cells::U16(v) => Pixels::U16(v.as_mut_ptr()),
            Cells::I32(v) => Pixels::I32(v.as_mut_ptr()),
        };
        Canvas { size: self.size, pixels, field: PhantomData }
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
    U16(*mut u16),
    I32(*mut i32),
}

/// A field that many workers write at once, each its own regions.
pub(crate) struct Canvas<'a, const K: usize> {
    size: [u32; K],
    pixels: Pixels,
    field: PhantomData<&'a mut Field<K>>,
}

// SAFETY: the canvas borrows the field exclusively, and its only accesses are `fill` and `write`, whose callers promise
// that no two threads touch a common cell.
#[allow(unsafe_code)]
unsafe impl<const K: usize> Sync for Canvas<'_, K> {}

#[allow(unsafe_code)]
impl<const K: usize> Canvas<'_, K> {
    /// Sets every cell of `region` to `label`.
    ///
    /// # Safety
    /// `region` lies in the domain, and no other thread accesses its cells meanwhile.
    pub(crate) unsafe fn fill(&self, region: &Region<K>, label: u32) {
        let len = region.extent[0] as usize;
        for row in region.rows() {
            let start = linear(&self.size, row);
            // SAFETY: the row lies in the domain, so in the allocation; exclusive by this function's contract.
            match self.pixels {
                Pixels::U16(p) => unsafe { std::slice::from_raw_parts_mut(p.add(start), len) }.fill(label as u16),
                Pixels::I32(p) => unsafe { std::slice::from_raw_parts_mut(p.add(start), len) }.fill(label as i32),
            }
        }
    }

    /// Sets the cells of `region` to `labels`, which come in storage order of the region.
    ///
    /// # Safety
    /// `region` lies in the domain, and no other thread accesses its cells meanwhile.
    pub(crate) unsafe fn write(&self, region: &Region<K>, labels: &[u32]) {
        debug_assert_eq!(labels.len() as u64, region.volume());
        for (row, labels) in region.rows().zip(labels.chunks_exact(region.extent[0] as usize)) {
            let start = linear(&self.size, row);
            // SAFETY: the row lies in the domain, so in the allocation; exclusive by this function's contract.
            match self.pixels {
                Pixels::U16(p) => unsafe { std::slice::from_raw_parts_mut(p.add(start), labels.len()) }
                    .iter_mut()
                    .zip(labels)
                    .for_each(|(cell, &label)| *cell = label as u16),
                Pixels::I32(p) => unsafe { std::slice::from_raw_parts_mut(p.add(start), labels.len()) }
                    .iter_mut()
                    .zip(labels)
                    .for_each(|(cell, &label)| *cell = label as i32),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Sample;

    #[test]
    #[allow(unsafe_code)]
    fn storage_order_checksum_and_view() {
        let domain = Domain::new([3, 2], [[0.0, 1.0]; 2], Sample::Corner).unwrap();
        let mut field = Field::zeroed(&domain, CellType::U16);
        let canvas = field.canvas();
        // SAFETY: one thread.
        unsafe {
            canvas.write(&domain.region(), &[1, 2, 3, 4, 5, 6]);
            canvas.fill(&Region { corner: [1, 1], extent: [2, 1] }, 9);
        }
        assert_eq!(field.cells(), &Cells::U16(vec![1, 2, 3, 4, 9, 9]));
        assert_eq!(field.label([0, 1]), 4);
        let view = field.view_u16().unwrap();
        assert_eq!((view.shape(), view[[0, 2]], view[[1, 0]]), (&[2, 3][..], 3, 4));
        let bytes: Vec<u8> = [1u16, 2, 3, 4, 9, 9].iter().flat_map(|c| c.to_le_bytes()).collect();
        assert_eq!(field.checksum(), format!("xxh3:{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)));
    }
}
