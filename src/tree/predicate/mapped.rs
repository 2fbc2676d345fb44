//! A source whose cells are a function of those of another, each by itself.

use std::io;
use std::ops::Range;

use crate::cell::{Cell, CellType, with_type};
use crate::geometry::Region;
use crate::memory::Refused;
use crate::result::{Cells, Width, each_width};
use crate::rule::exact;
use crate::tree::predicate::labels::Steps;
use crate::tree::predicate::threshold::{self, Classes};
use crate::tree::source::{InMemory, Source};

/// What becomes of a cell.
#[derive(Debug, Clone, Copy)]
pub(super) enum Map {
    /// It stays what it is.
    Same,
    /// What is above a threshold, and what is not.
    Classes(Classes),
    /// Steps.
    Labels(Steps),
}

/// A source whose cells are a function of those of another: the result of
/// [`Predicate::over`](crate::tree::Predicate::over).
///
/// ```
/// use orthant::CellType;
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
/// use orthant::tree::{Number, Predicate, Source};
///
/// let image = Array2::from_shape_fn((1, 4), |(_, x)| 10 * x as u16);
/// let source = ArrayField::<2, u16>::new(image.view())?;
/// // The classes of 0, 10, 20, 30: below 20, and from 20 on.
/// let classes = Predicate::threshold(CellType::U16, Number::Natural(20))?.over(&source)?;
/// let mut cells = [9; 4];
/// classes.read(&Region { corner: [0, 0], extent: [4, 1] }, &mut cells)?;
/// assert_eq!((classes.kind(), cells), (CellType::U8, [0, 0, 1, 1]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Mapped<'s, const K: usize> {
    pub(super) source: &'s dyn Source<K>,
    /// The word that stands for what is not a number.
    pub(super) fill: Option<u64>,
    pub(super) map: Map,
}

impl<const K: usize> Mapped<'_, K> {
    /// True if cells are what they are in the source.
    fn same(&self) -> bool {
        self.fill.is_none() && matches!(self.map, Map::Same)
    }

    fn mapping(&self) -> CellMapping {
        CellMapping { kind: self.source.kind(), fill: self.fill, map: self.map }
    }
}

/// What becomes of the cells of a type.
struct CellMapping {
    kind: CellType,
    fill: Option<u64>,
    map: Map,
}

impl CellMapping {
    /// The type that they become.
    fn to(&self) -> CellType {
        match self.map {
            Map::Same => self.kind,
            Map::Classes(_) => threshold::KIND,
            Map::Labels(steps) => steps.kind,
        }
    }

    /// The word of a cell whose word in the source is this one; None if there is none.
    #[inline]
    fn word(&self, word: u64) -> Option<u64> {
        let word = match self.fill {
            Some(fill) if Some(exact::key(self.kind, word)) == self.kind.nan() => fill,
            _ => word,
        };
        match self.map {
            Map::Same => Some(word),
            Map::Classes(classes) => Some(classes.class(word)),
            Map::Labels(steps) => steps.label(word),
        }
    }

    /// Writes what becomes of cells, each by `word`; the number of the first that has no word.
    fn write(&self, cells: &Cells, bytes: &mut [u8]) -> Result<(), usize> {
        fn each<W: Width, T: Cell>(
            cells: &[W],
            bytes: &mut [u8],
            word: impl Fn(u64) -> Option<u64>,
        ) -> Result<(), usize> {
            for (place, (cell, bytes)) in cells.iter().zip(bytes.chunks_exact_mut(size_of::<T>())).enumerate() {
                let word = word(cell.word()).ok_or(place)?;
                bytes.copy_from_slice(bytemuck::bytes_of(&T::from_word(word)));
            }
            Ok(())
        }
        each_width!(cells.bits(), cells => with_type!(self.to(), T => each::<_, T>(cells, bytes, |word| self.word(word))))
    }
}

impl<const K: usize> Source<K> for Mapped<'_, K> {
    fn kind(&self) -> CellType {
        self.mapping().to()
    }

    fn size(&self) -> [u32; K] {
        self.source.size()
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        if self.same() {
            return self.source.read(window, bytes);
        }
        self.check(window, bytes)?;
        let kind = self.source.kind();
        let refused = |_: Refused| io::Error::from(io::ErrorKind::OutOfMemory);
        let mut cells = Cells::zeroed(kind, window.volume() as usize).map_err(refused)?;
        self.source.read(window, cells.bytes_mut())?;
        self.mapping().write(&cells, bytes).map_err(|place| {
            let cell = window.cell(window.offset(place as u64));
            let (value, to) = (kind.text(cells.word(place)), self.kind());
            let reason =
                format!("cell {cell:?} is {value}, whose label {to} does not hold; give a larger step of labels");
            io::Error::new(io::ErrorKind::InvalidData, reason)
        })
    }

    fn known(&self, window: &Region<K>) -> io::Result<Option<u64>> {
        Ok(self.source.known(window)?.and_then(|word| self.mapping().word(word)))
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        self.same().then(|| self.source.in_memory()).flatten()
    }

    fn will_need(&self, bytes: Range<usize>) {
        self.source.will_need(bytes);
    }

    fn unchanged(&self) -> io::Result<()> {
        self.source.unchanged()
    }
}
