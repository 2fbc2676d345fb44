//! Where the cells of a tree come from, box by box.

use std::io;
use std::ops::Range;

use ndarray::Axis;

use crate::cell::{Cell, CellType};
use crate::dimension::here;
use crate::field::ArrayField;
use crate::geometry::{Region, Rows};
use crate::mapping::SharedBytes;
use crate::memory::zeros;
use crate::parallel;
use crate::result::{DenseArray, each_width};
use crate::tree::list::Scattered;

/// An array, in memory or elsewhere, that hands out boxes of its cells.
///
/// ```
/// use std::io;
/// use orthant::prelude::*;
/// use orthant::CellType;
/// use orthant::tree::{BottomUp, Source};
///
/// /// Planes of 64 x 64 bytes, each of one value.
/// struct Planes(Vec<u8>);
/// impl Source<3> for Planes {
///     fn kind(&self) -> CellType {
///         CellType::U8
///     }
///     fn size(&self) -> [u32; 3] {
///         [64, 64, self.0.len() as u32]
///     }
///     fn read(&self, window: &Region<3>, bytes: &mut [u8]) -> io::Result<()> {
///         let planes = window.corner[2]..window.corner[2] + window.extent[2];
///         let plane = bytes.len() / planes.len();
///         planes.zip(bytes.chunks_exact_mut(plane)).for_each(|(z, cells)| cells.fill(self.0[z as usize]));
///         Ok(())
///     }
/// }
///
/// let planes = Planes(vec![1, 1, 1, 1, 2, 2, 7, 7]);
/// let plan = Plan::builder(planes.size()).scheme(Scheme::uniform(2, 2, 1)).rule(RuleKind::Full).build()?;
/// let tree = BottomUp::new(&plan, &planes)?.tree()?;
/// assert_eq!((tree.word([9, 40, 3]), tree.word([9, 40, 4])), (Some(1), Some(2)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source<const K: usize>: Sync {
    /// The type of its cells.
    fn kind(&self) -> CellType;

    /// Cells per axis, axis 0 first.
    fn size(&self) -> [u32; K];

    /// Writes the cells of a box into `bytes`, in storage order (axis 0 fastest) and in this machine's byte order.
    ///
    /// A tree asks only for boxes of the array, with as many bytes as their cells need; [`check`](Self::check) refuses others.
    /// Several threads may read at once.
    ///
    /// # Errors
    /// If the cells cannot be read. The making of the tree ends with this error.
    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()>;

    /// The word that all cells of a box [count as](crate::rule::exact::key), if the source knows it without reading
    /// them.
    ///
    /// # Errors
    /// Whatever keeps it from telling.
    fn known(&self, _window: &Region<K>) -> io::Result<Option<u64>> {
        Ok(None)
    }

    /// The cells of a box that are not of the one value that all others of the box have, if the source is a list of cells.
    ///
    /// # Errors
    /// Whatever keeps it from telling.
    fn scattered(&self, _window: &Region<K>) -> io::Result<Option<Scattered<K>>> {
        Ok(None)
    }

    /// All cells as they lie in memory, or in a file in the address space, where a build looks at them without copying them. None if
    /// cells have to be [`read`](Self::read).
    fn in_memory(&self) -> Option<InMemory<'_>> {
        None
    }

    /// Says which bytes of [`in_memory`](Self::in_memory) are looked at next, so that the system can read those of a file in advance.
    fn will_need(&self, _: Range<usize>) {}

    /// Fails if the cells are not those that were there at first, or if some could not be read. A build calls it after it looked at
    /// cells [in memory](Self::in_memory), and before it makes anything of them.
    ///
    /// # Errors
    /// Says what changed, or what could not be read.
    fn unchanged(&self) -> io::Result<()> {
        Ok(())
    }

    /// Checks what `read` is asked for.
    ///
    /// # Errors
    /// [`io::ErrorKind::InvalidInput`] if the box is empty or not in the array, or `bytes` are not those of its cells.
    fn check(&self, window: &Region<K>, bytes: &[u8]) -> io::Result<()> {
        check(&self.size(), &window.corner, &window.extent, self.kind(), bytes.len())
    }
}

/// Checks that a box is in an array of `size`, and that its cells have `bytes` bytes.
fn check(size: &[u32], corner: &[u32], extent: &[u32], kind: CellType, bytes: usize) -> io::Result<()> {
    let mut axes = size.iter().zip(corner).zip(extent);
    let of_array = axes.all(|((&size, &corner), &extent)| extent > 0 && corner <= size && extent <= size - corner);
    let needed = extent.iter().fold(kind.bytes().into(), |bytes: u128, &cells| bytes.saturating_mul(cells.into()));
    if of_array && bytes as u128 == needed {
        return Ok(());
    }
    let cells = format!("a box of {extent:?} cells from {corner:?} on, of an array of {size:?} cells; it needs");
    let reason = match of_array {
        false => format!("{cells} cells, all in the array"),
        true => format!("{bytes} bytes for {cells} {needed}"),
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, reason))
}

impl<'s, const K: usize> dyn Source<K> + 's {
    /// All cells, in storage order (axis 0 fastest) and in this machine's byte order. All threads read.
    ///
    /// # Errors
    /// [`io::ErrorKind::OutOfMemory`] if there is no memory for them; whatever keeps them from being read.
    pub fn whole(&self) -> io::Result<Vec<u8>> {
        here!(fn(&dyn Source<K>) -> io::Result<Vec<u8>> = |source| source.whole_here())(self)
    }

    fn whole_here(&self) -> io::Result<Vec<u8>> {
        let size = self.size();
        let bytes = layers_of(&size, self.kind().bytes(), &|layers, bytes| {
            let mut window = Region { corner: [0; K], extent: size };
            (window.corner[K - 1], window.extent[K - 1]) = (layers.start, layers.end - layers.start);
            self.read(&window, bytes)
        })?;
        self.unchanged()?;
        Ok(bytes)
    }
}

/// Reads some layers of the last axis.
type ReadLayers<'r> = dyn Fn(Range<u32>, &mut [u8]) -> io::Result<()> + Sync + 'r;

/// All layers of the last axis, some of which a thread reads at once.
fn layers_of(size: &[u32], width: u64, read: &ReadLayers<'_>) -> io::Result<Vec<u8>> {
    let (&last, others) = size.split_last().expect("there is an axis");
    let layer = others.iter().fold(width, |bytes, &cells| bytes.saturating_mul(cells.into()));
    let bytes = usize::try_from(layer.saturating_mul(last.into())).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut bytes = zeros(bytes).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let layers = (AT_ONCE / layer).clamp(1, u64::from(last));
    parallel::try_pieces_mut(&mut bytes, (layers * layer) as usize, &|i, bytes| {
        let first = (i as u64 * layers) as u32;
        read(first..first + (bytes.len() as u64 / layer) as u32, bytes)
    })?;
    Ok(bytes)
}

/// Bytes that a thread reads at once, if a layer of the last axis has no more.
const AT_ONCE: u64 = 16 << 20;

impl<const K: usize> std::fmt::Debug for dyn Source<K> + '_ {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Source").field("kind", &self.kind()).field("size", &self.size()).finish_non_exhaustive()
    }
}

/// All cells of an array as they lie in memory, without gaps. A build looks at them without copying them.
///
/// ```
/// use orthant::CellType;
/// use orthant::prelude::*;
/// use orthant::tree::{BottomUp, InMemory, Source};
///
/// /// Three columns of two bytes, one column after the other: axis 1 is the fastest.
/// struct Columns([u8; 6]);
/// impl Source<2> for Columns {
///     fn in_memory(&self) -> Option<InMemory<'_>> {
///         Some(InMemory::new(&self.0).reversed(true))
///     }
///     fn read(&self, window: &Region<2>, bytes: &mut [u8]) -> std::io::Result<()> {
///         window.cells().zip(bytes).for_each(|([x, y], byte)| *byte = self.0[(2 * x + y) as usize]);
///         Ok(())
///     }
///     # fn kind(&self) -> CellType {
///     #     CellType::U8
///     # }
///     # fn size(&self) -> [u32; 2] {
///     #     [3, 2]
///     # }
///     // .. and its type and size.
/// }
/// let plan = Plan::builder([3, 2]).rule(RuleKind::Full).build()?;
/// let tree = BottomUp::new(&plan, &Columns([1, 2, 3, 4, 5, 6]))?.tree()?;
/// assert_eq!((tree.get([1, 0]), tree.get([1, 1])), (Some(3u8), Some(4u8)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct InMemory<'s> {
    /// All cells.
    #[doc(hidden)]
    pub bytes: SharedBytes<'s>,
    /// True if the last axis is the fastest, and axis 0 the slowest; else it is the other way round.
    #[doc(hidden)]
    pub reversed: bool,
    /// True if the bytes of a cell come in the other order than this machine's.
    #[doc(hidden)]
    pub swapped: bool,
}

impl<'s> InMemory<'s> {
    /// Cells of which axis 0 is the fastest, in this machine's byte order.
    pub fn new(bytes: &'s [u8]) -> Self {
        Self { bytes: SharedBytes::of(bytes), reversed: false, swapped: false }
    }

    /// If `reversed`, the last axis is the fastest and axis 0 the slowest.
    #[must_use]
    pub fn reversed(self, reversed: bool) -> Self {
        Self { reversed, ..self }
    }

    /// If `swapped`, the bytes of a cell come in the opposite of this machine's order.
    #[must_use]
    pub fn swapped(self, swapped: bool) -> Self {
        Self { swapped, ..self }
    }

    /// True if cells begin where this machine wants them to.
    pub(super) fn aligned(&self, kind: CellType) -> bool {
        self.bytes.aligned(kind.bytes() as usize)
    }
}

impl<const K: usize, T: Cell> Source<K> for ArrayField<'_, K, T> {
    fn kind(&self) -> CellType {
        T::TYPE
    }

    fn size(&self) -> [u32; K] {
        self.size()
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        let cells = self.view();
        Some(InMemory::new(bytemuck::cast_slice(cells.to_slice()?)))
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        let mut array = self.view();
        if let Some(cells) = array.as_slice() {
            copy_rows(self.size(), bytemuck::cast_slice(cells), window, bytes);
            return Ok(());
        }
        for j in 0..K {
            let start = window.corner[j] as usize;
            array.slice_axis_inplace(Axis(K - 1 - j), (start..start + window.extent[j] as usize).into());
        }
        let cells = bytes.chunks_exact_mut(size_of::<T>());
        array.iter().zip(cells).for_each(|(cell, bytes)| bytes.copy_from_slice(bytemuck::bytes_of(cell)));
        Ok(())
    }
}

/// Cells of the array's window, the first of which is cell 0 on every axis.
impl<const K: usize> Source<K> for DenseArray<K> {
    fn kind(&self) -> CellType {
        self.cells().kind()
    }

    fn size(&self) -> [u32; K] {
        self.size()
    }

    fn in_memory(&self) -> Option<InMemory<'_>> {
        Some(InMemory::new(each_width!(self.cells().bits(), cells => bytemuck::cast_slice(cells))))
    }

    fn read(&self, window: &Region<K>, bytes: &mut [u8]) -> io::Result<()> {
        self.check(window, bytes)?;
        each_width!(self.cells().bits(), cells => copy_rows(self.size(), bytemuck::cast_slice(cells), window, bytes));
        Ok(())
    }
}

/// Copies a box out of an array of `size` cells, row by row.
pub(super) fn copy_rows<const K: usize>(size: [u32; K], cells: &[u8], window: &Region<K>, bytes: &mut [u8]) {
    let rows = Rows::of(window, &Region { corner: [0; K], extent: size });
    let width = bytes.len() / window.volume() as usize;
    copy_some(rows, width, cells, bytes);
}

fn copy_some(rows: Rows, width: usize, cells: &[u8], bytes: &mut [u8]) {
    let len = rows.len() * width;
    let mut to = bytes.chunks_exact_mut(len);
    rows.each(|start| {
        let Some(bytes) = to.next() else { return };
        bytes.copy_from_slice(&cells[start * width..start * width + len]);
    });
}
