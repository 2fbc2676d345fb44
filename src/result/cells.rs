//! Stored labels: cells of one type in a row.

use crate::cell::{Cell, CellType, Words};
use crate::memory::{Refused, reserve, zeros};
use crate::parallel;

/// Cells of one type, in a row.
///
/// ```
/// use orthant::CellType;
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([4, 2]).scheme(Scheme::uniform(1, 2, 1)).build()?;
/// let signed = CellField::values(|[x, y]: [u32; 2]| x as i8 - 10 * y as i8);
/// let found = run(&plan, &signed)?;
/// let cells = found.array().ok_or("dense is the default")?.cells();
/// assert_eq!(cells.as_slice::<i8>(), Some(&[0, 1, 2, 3, -10, -9, -8, -7][..]));
/// assert_eq!(cells.as_slice::<u8>(), None);
/// assert_eq!((cells.kind(), cells.word(4)), (CellType::I8, 246)); // the bits of -10
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cells {
    kind: CellType,
    bits: Bits,
}

/// The bits of cells, by their width: all that an engine knows of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Bits {
    B1(Vec<u8>),
    B2(Vec<u16>),
    B4(Vec<u32>),
    B8(Vec<u64>),
}

/// Runs one body for whichever width is stored.
macro_rules! each_width {
    ($bits:expr, $v:ident => $body:expr) => {
        match $bits {
            $crate::result::Bits::B1($v) => $body,
            $crate::result::Bits::B2($v) => $body,
            $crate::result::Bits::B4($v) => $body,
            $crate::result::Bits::B8($v) => $body,
        }
    };
}
pub(crate) use each_width;

/// Bits of one width.
pub(crate) trait Width: bytemuck::Pod + PartialEq + Send + Sync {
    /// The low bits of a word.
    fn cut(word: u64) -> Self;
    /// A word with zeros above.
    fn word(self) -> u64;
}

macro_rules! widths {
    ($($T:ty),+) => { $(
        impl Width for $T {
            #[inline]
            fn cut(word: u64) -> Self {
                word as $T
            }
            #[inline]
            fn word(self) -> u64 {
                self.into()
            }
        }
    )+ };
}
widths!(u8, u16, u32, u64);

impl Cells {
    pub(crate) fn zeroed(kind: CellType, len: usize) -> Result<Self, Refused> {
        let bits = match kind.bytes() {
            1 => Bits::B1(zeros(len)?),
            2 => Bits::B2(zeros(len)?),
            4 => Bits::B4(zeros(len)?),
            _ => Bits::B8(zeros(len)?),
        };
        Ok(Self { kind, bits })
    }

    pub(crate) fn empty(kind: CellType) -> Self {
        Self::zeroed(kind, 0).expect("no cells take no memory")
    }

    /// `len` cells in the memory of these, if that is enough, else in new memory. What they hold is not said.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn resized(self, len: usize) -> Result<Self, Refused> {
        let mut cells = self;
        if each_width!(&cells.bits, v => v.capacity() < len) {
            let kind = cells.kind;
            drop(cells);
            return Self::zeroed(kind, len);
        }
        each_width!(&mut cells.bits, v => v.resize(len, 0));
        Ok(cells)
    }

    /// Forgets all cells and keeps their memory.
    pub(crate) fn clear(&mut self) {
        each_width!(&mut self.bits, v => v.clear());
    }

    pub(crate) fn bits(&self) -> &Bits {
        &self.bits
    }

    pub(crate) fn bits_mut(&mut self) -> &mut Bits {
        &mut self.bits
    }

    /// Overwrites every cell with copies of a byte.
    pub(crate) fn poison(&mut self, byte: u8) {
        each_width!(&mut self.bits, v => bytemuck::cast_slice_mut::<_, u8>(v).fill(byte));
    }

    /// Makes room for so many cells more.
    pub(crate) fn reserve(&mut self, more: usize) -> Result<(), Refused> {
        each_width!(&mut self.bits, v => reserve(v, more))
    }

    /// The same cells once more.
    pub(crate) fn copy(&self) -> Result<Self, Refused> {
        let mut copy = Self::empty(self.kind());
        copy.reserve(self.len())?;
        copy.append(self);
        Ok(copy)
    }

    /// The type of a cell.
    pub fn kind(&self) -> CellType {
        self.kind
    }

    /// The number of cells.
    pub fn len(&self) -> usize {
        each_width!(&self.bits, v => v.len())
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells as values of type `T`; None if they are of another type.
    pub fn as_slice<T: Cell>(&self) -> Option<&[T]> {
        (T::TYPE == self.kind).then(|| each_width!(&self.bits, v => bytemuck::cast_slice(v)))
    }

    /// The bytes of all cells as this machine has them, whatever their type: for whoever hands them on, and knows [`kind`](Self::kind).
    pub fn as_bytes(&self) -> &[u8] {
        each_width!(&self.bits, v => bytemuck::cast_slice(v))
    }

    /// The bits of cell `index`, with zeros above them.
    ///
    /// # Panics
    /// If `index` is out of range.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        each_width!(&self.bits, v => Width::word(v[index]))
    }

    /// The words of every `step`-th cell from cell `first` on.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn words(&self, first: usize, step: usize, words: &mut [u64]) {
        fn take<W: Width>(cells: &[W], step: usize, words: &mut [u64]) {
            for (place, word) in words.iter_mut().enumerate() {
                *word = cells[place * step].word();
            }
        }
        each_width!(&self.bits, v => take(&v[first..], step, words));
    }

    /// What a table has for every `step`-th cell from cell `first` on; `other` says it of words beyond the table.
    pub(crate) fn look_up(
        &self,
        (first, step): (usize, usize),
        table: &[u8],
        other: &dyn Fn(u64) -> u8,
        found: &mut [u8],
    ) {
        fn of<W: Width>(cells: &[W], step: usize, table: &[u8], other: &dyn Fn(u64) -> u8, found: &mut [u8]) {
            for (cell, found) in cells.iter().step_by(step).zip(found) {
                let word = cell.word();
                *found = table.get(word as usize).copied().unwrap_or_else(|| other(word));
            }
        }
        each_width!(&self.bits, v => of(&v[first..], step, table, other, found));
    }

    /// The count that cell `index` holds.
    ///
    /// # Panics
    /// If `index` is out of range.
    pub fn label(&self, index: usize) -> u64 {
        self.kind.count(self.word(index))
    }

    /// Appends the low bits of words.
    pub(crate) fn extend(&mut self, words: Words<'_>) {
        fn extend<W: Width>(cells: &mut Vec<W>, words: Words<'_>) {
            match words {
                Words::Narrow(words) => cells.extend(words.iter().map(|&word| W::cut(word.into()))),
                Words::Wide(words) => cells.extend(words.iter().map(|&word| W::cut(word))),
            }
        }
        each_width!(&mut self.bits, v => extend(v, words));
    }

    /// Overwrites cells from `start` on with little-endian bytes.
    pub(crate) fn store(&mut self, start: usize, bytes: &[u8]) {
        each_width!(&mut self.bits, v => {
            let width = size_of_val(&v[0]);
            let cells = &mut v[start..start + bytes.len() / width];
            // Pieces in parallel: a fresh array is mapped page by page as it is written.
            parallel::pieces_mut(cells, 1 << 16, &|i, cells| {
                let bytes = &bytes[width * parallel::piece(bytes.len() / width, 1 << 16, i).start..][..size_of_val(cells)];
                bytemuck::cast_slice_mut(cells).copy_from_slice(bytes);
                if cfg!(target_endian = "big") {
                    cells.iter_mut().for_each(|cell| *cell = cell.swap_bytes());
                }
            });
        });
    }

    /// Appends the cells `range` of others of the same type.
    pub(crate) fn extend_from(&mut self, others: &Self, range: std::ops::Range<usize>) {
        match (&mut self.bits, &others.bits) {
            (Bits::B1(v), Bits::B1(w)) => v.extend_from_slice(&w[range]),
            (Bits::B2(v), Bits::B2(w)) => v.extend_from_slice(&w[range]),
            (Bits::B4(v), Bits::B4(w)) => v.extend_from_slice(&w[range]),
            (Bits::B8(v), Bits::B8(w)) => v.extend_from_slice(&w[range]),
            _ => unreachable!("a run stores one cell type"),
        }
    }

    /// Appends copies of the low bits of a word.
    pub(crate) fn extend_copies(&mut self, word: u64, copies: usize) {
        each_width!(&mut self.bits, v => v.resize(v.len() + copies, Width::cut(word)));
    }

    /// Drops all cells from `len` on.
    pub(crate) fn truncate(&mut self, len: usize) {
        each_width!(&mut self.bits, v => v.truncate(len));
    }

    /// Copies the cells `range` to where `to` begins.
    pub(crate) fn move_within(&mut self, range: std::ops::Range<usize>, to: usize) {
        if range.start != to {
            each_width!(&mut self.bits, v => v.copy_within(range, to));
        }
    }

    /// The cells as this machine has them.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        each_width!(&mut self.bits, v => bytemuck::cast_slice_mut(v))
    }

    /// Appends cells of the same type.
    pub(crate) fn append(&mut self, other: &Self) {
        self.extend_from(other, 0..other.len());
    }

    /// Appends many cells of the same type, by all threads.
    ///
    /// # Errors
    /// If there is no memory for them.
    pub(crate) fn append_many(&mut self, other: &Self) -> Result<(), Refused> {
        fn append<W: Width>(cells: &mut Vec<W>, more: &[W]) -> Result<(), Refused> {
            parallel::append(cells, &more.chunks(1 << 16).collect::<Vec<_>>())
        }
        match (&mut self.bits, &other.bits) {
            (Bits::B1(v), Bits::B1(w)) => append(v, w),
            (Bits::B2(v), Bits::B2(w)) => append(v, w),
            (Bits::B4(v), Bits::B4(w)) => append(v, w),
            (Bits::B8(v), Bits::B8(w)) => append(v, w),
            _ => unreachable!("a run stores one cell type"),
        }
    }

    /// Feeds the little-endian bytes of the cells `range` to `sink`, in pieces.
    pub fn le_bytes<E>(
        &self,
        range: std::ops::Range<usize>,
        mut sink: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        each_width!(&self.bits, v => {
            if cfg!(target_endian = "little") {
                return bytemuck::cast_slice::<_, u8>(&v[range]).chunks(1 << 16).try_for_each(sink);
            }
            let mut bytes = Vec::with_capacity(1 << 16);
            for piece in v[range].chunks((1 << 16) / size_of_val(&v[0])) {
                bytes.clear();
                bytes.extend(piece.iter().flat_map(|cell| cell.to_le_bytes()));
                sink(&bytes)?;
            }
        });
        Ok(())
    }
}
