//! An array of NumPy's as what the library takes: a source of cells, and a field.
//!
//! It is never copied. Cells without gaps are looked at where they lie, in either order of axes and of bytes; others are gathered box by
//! box along their strides.

use std::io;

use orthant::CellType;
use orthant::WordsMut;
use orthant::field::{Evaluate, Field, Labels};
use orthant::geometry::Region;
use orthant::tree::{InMemory, Source};

use crate::error::Failure;
use crate::memory::{Borrowed, Numpy};

/// The type of the cells of an array, if they are numbers that the library has; bool counts as u8. True if their bytes are swapped.
pub(crate) fn kind(array: &Numpy<'_>) -> Result<(CellType, bool), Failure> {
    let typestr = &*array.typestr;
    let bits = 8 * array.width();
    let name = match &typestr[1..2] {
        "b" => "u8".to_owned(),
        "c" => format!("complex{bits}"),
        letter @ ("u" | "i" | "f") => format!("{letter}{bits}"),
        _ => {
            let known = CellType::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            return Err(Failure::Type(format!("an array of dtype '{typestr}': cells are numbers, {known} or bool")));
        }
    };
    let kind = name
        .parse()
        .map_err(|error: orthant::UnknownName| Failure::Type(format!("an array of dtype '{typestr}': {error}")))?;
    let foreign = if cfg!(target_endian = "big") { '<' } else { '>' };
    Ok((kind, typestr.starts_with(foreign)))
}

/// The array in K dimensions.
pub(crate) struct NumpyArray<'a, const K: usize> {
    cells: Borrowed<'a>,
    kind: CellType,
    swapped: bool,
    /// Axis 0 first.
    size: [u32; K],
    /// Bytes from one cell to the next, axis 0 first.
    strides: [isize; K],
}

/// Cells per axis, axis 0 first.
pub(crate) fn size(shape: &[usize]) -> Result<Vec<u32>, Failure> {
    if shape.is_empty() || shape.len() > orthant::MAX_DIM {
        let axes = shape.len();
        return Err(Failure::Value(format!("the array has {axes} axes; between 1 and {} can be", orthant::MAX_DIM)));
    }
    if shape.contains(&0) {
        return Err(Failure::Value(format!("the array is empty: its shape is {shape:?}, and every axis needs a cell")));
    }
    let axis = |&cells: &usize| {
        u32::try_from(cells)
            .map_err(|_| Failure::Value(format!("the array has {cells} cells on an axis, and at most 2^32 - 1 can be")))
    };
    shape.iter().rev().map(axis).collect()
}

impl<'a, const K: usize> NumpyArray<'a, K> {
    /// An array of K axes whose size was checked.
    pub(crate) fn new(array: &'a Numpy<'_>) -> Result<Self, Failure> {
        let ((kind, swapped), size) = (self::kind(array)?, size(&array.shape)?);
        Ok(Self {
            cells: Borrowed::of(array),
            kind,
            swapped,
            size: std::array::from_fn(|j| size[j]),
            strides: std::array::from_fn(|j| array.strides[K - 1 - j]),
        })
    }

    /// Whether the last axis is the fastest of cells without gaps; None if there are gaps.
    fn dense(&self) -> Option<bool> {
        let follows = |reversed: bool| {
            let mut next = self.kind.bytes() as isize;
            (0..K).map(|j| if reversed { K - 1 - j } else { j }).all(|j| {
                let here = self.size[j] == 1 || self.strides[j] == next;
                next *= self.size[j] as isize;
                here
            })
        };
        [false, true].into_iter().find(|&reversed| follows(reversed))
    }

    fn offset(&self, cell: [u32; K]) -> isize {
        (0..K).map(|j| cell[j] as isize * self.strides[j]).sum()
    }

    /// The word of a cell.
    #[inline]
    fn word(&self, cell: [u32; K]) -> u64 {
        let bytes = self.cells.cell(self.offset(cell));
        let big = self.swapped != cfg!(target_endian = "big");
        let join = |word: u64, &byte: &u8| word << 8 | u64::from(byte);
        if big { bytes.iter().fold(0, join) } else { bytes.iter().rev().fold(0, join) }
    }
}

impl<const K: usize> Source<K> for NumpyArray<'_, K> {
    fn kind(&self) -> CellType {
        self.kind
    }

    fn size(&self) -> [u32; K] {
        self.size
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        let reversed = self.dense()?;
        let cells: usize = self.size.iter().map(|&n| n as usize).product();
        let bytes = self.cells.all(cells * self.kind.bytes() as usize);
        Some(InMemory::new(bytes).reversed(reversed).swapped(self.swapped))
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        let mut to = bytes.chunks_exact_mut(self.kind.bytes() as usize);
        let mut row = *window;
        row.extent[0] = 1;
        for first in row.cells() {
            let start = self.offset(first);
            for x in 0..window.extent[0] as isize {
                let Some(cell) = to.next() else { return Ok(()) };
                cell.copy_from_slice(self.cells.cell(start + x * self.strides[0]));
                if self.swapped {
                    cell.reverse();
                }
            }
        }
        Ok(())
    }
}

impl<const K: usize> Field<K> for NumpyArray<'_, K> {
    fn labels(&self) -> Labels {
        Labels::values(self.kind)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }
}

impl<const K: usize> Evaluate<K> for NumpyArray<'_, K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let words = cells.iter().map(|&cell| self.word(cell));
        match labels {
            WordsMut::Narrow(labels) => labels.iter_mut().zip(words).for_each(|(label, word)| *label = word as u32),
            WordsMut::Wide(labels) => labels.iter_mut().zip(words).for_each(|(label, word)| *label = word),
        }
    }
}
