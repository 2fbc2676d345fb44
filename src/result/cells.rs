//! Stored labels: cells of one type in a row.

#[cfg(feature = "cuda")]
use rayon::prelude::*;

use crate::memory::{Refused, reserve, zeros};
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
    /// Two bytes each.
    U16(Vec<u16>),
    /// Four bytes each.
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
trait FromNative {
    fn from_native(bytes: &[u8]) -> Self;
}

impl FromNative for u16 {
    fn from_native(bytes: &[u8]) -> Self {
        Self::from_ne_bytes([bytes[0], bytes[1]])
    }
}

impl FromNative for i32 {
    fn from_native(bytes: &[u8]) -> Self {
        Self::from_ne_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
    }
}

pub(super) use each_type;

impl Cells {
    /// Overwrites every cell with copies of a byte.
    pub(crate) fn poison(&mut self, byte: u8) {
        each_type!(self, v => v.fill(FromNative::from_native(&[byte; 4])));
    }

    pub(crate) fn zeroed(kind: CellType, len: usize) -> Result<Self, Refused> {
        Ok(match kind {
            CellType::U16 => Self::U16(zeros(len)?),
            CellType::I32 => Self::I32(zeros(len)?),
        })
    }

    pub(crate) fn empty(kind: CellType) -> Self {
        match kind {
            CellType::U16 => Self::U16(Vec::new()),
            CellType::I32 => Self::I32(Vec::new()),
        }
    }

    /// Makes room for so many cells more.
    pub(crate) fn reserve(&mut self, more: usize) -> Result<(), Refused> {
        each_type!(self, v => reserve(v, more))
    }

    /// The same cells once more.
    pub(crate) fn copy(&self) -> Result<Self, Refused> {
        let mut copy = Self::empty(self.kind());
        copy.reserve(self.len())?;
        match (&mut copy, self) {
            (Self::U16(v), Self::U16(w)) => v.extend_from_slice(w),
            (Self::I32(v), Self::I32(w)) => v.extend_from_slice(w),
            _ => unreachable!("both are of one kind"),
        }
        Ok(copy)
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
