//! The labels of a dense domain, or of a window of it.
//!
//! A [`DenseArray`] is stored with axis 0 fastest; as an ndarray or a `.npy` file (C order) its shape is
//! [n_{k-1}, .., n_1, n_0].

use ndarray::{ArrayViewD, IxDyn};
use xxhash_rust::xxh3::Xxh3;

use crate::cell::{Cell, CellType, Words};
use crate::geometry::{Region, Rows};
use crate::result::canvas::Canvas;
use crate::result::cells::{Cells, each_width};
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

/// The labels of all cells of a domain, or of a box of its cells: the window.
///
/// ```
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([8, 4]).scheme(Scheme::uniform(1, 2, 1)).build()?;
/// let sums = CellField::new(100, |[x, y]| x + 10 * y);
/// let found = run(&plan, &sums)?;
/// let array = found.array().ok_or("dense is the default")?;
/// assert_eq!((array.size(), array.label([3, 2])), ([8, 4], 23));
/// // Row y = 2 begins at index 16: axis 0 is the fastest.
/// assert_eq!(array.row([0, 2]), 16..24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
    #[doc(hidden)]
    pub fn zeroed(what: Stored, window: Region<K>, kind: CellType) -> Result<Self, MemoryError> {
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

    /// The cells of a box of it.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// let plan = Plan::builder([6, 4]).scheme(Scheme::uniform(1, 2, 1)).build()?;
    /// let found = run(&plan, &CellField::new(9, |[x, y]| x + y))?;
    /// let array = found.array().ok_or("dense is the default")?;
    /// let cut = array.cut(&Region { corner: [1, 2], extent: [3, 2] })?;
    /// assert_eq!((cut.size(), cut.label([1, 2]), cut.label([3, 3])), ([3, 2], 3, 6));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If there is no memory for them.
    ///
    /// # Panics
    /// If a cell is outside the window.
    pub fn cut(&self, window: &Region<K>) -> Result<Self, MemoryError> {
        assert!(self.window.contains(window), "{window:?} is outside the window");
        let mut cut = Self::zeroed(Stored::Materialised, *window, self.cells.kind())?;
        let width = self.cells.kind().bytes() as usize;
        let bytes = window.extent[0] as usize * width;
        for (to, cell) in cut.cells.bytes_mut().chunks_exact_mut(bytes).zip(window.rows()) {
            let at = self.window.place(cell) * width;
            to.copy_from_slice(&self.cells.as_bytes()[at..at + bytes]);
        }
        Ok(cut)
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
        self.cells.label(self.window.place(cell))
    }

    /// The word of one cell of the domain.
    ///
    /// # Panics
    /// If the cell is outside the window.
    pub fn word(&self, cell: [u32; K]) -> u64 {
        assert!(self.window.contains_cell(cell), "cell {cell:?} is outside the window");
        self.cells.word(self.window.place(cell))
    }

    /// Writes the words of the cells from `cell` on along an axis, as many as `words` has room for.
    ///
    /// # Panics
    /// If one of them is outside the window.
    pub fn words(&self, cell: [u32; K], axis: usize, words: &mut [u64]) {
        let Some(beyond) = words.len().checked_sub(1) else { return };
        let mut last = cell;
        last[axis] = last[axis].saturating_add(beyond.try_into().unwrap_or(u32::MAX));
        for end in [cell, last] {
            assert!(self.window.contains_cell(end), "cell {end:?} is outside the window");
        }
        let step = self.window.extent[..axis].iter().map(|&n| n as usize).product();
        self.cells.words(self.window.place(cell), step, words);
    }

    /// Looks up every `step`-th cell along `axis`, from `cell` on, in a table of bytes; `other` says it of words beyond the table. A
    /// picture's pixels are made so.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// let plan = Plan::builder([6, 2]).scheme(Scheme::uniform(1, 2, 1)).build()?;
    /// let found = run(&plan, &CellField::new(9, |[x, _]| x))?;
    /// let (mut pixels, table) = ([0; 3], [10, 11, 12, 13]);
    /// found.array().ok_or("dense is the default")?.look_up([0, 1], 0, 2, &table, &|word| 100 + word as u8, &mut pixels);
    /// assert_eq!(pixels, [10, 12, 104]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// If a cell is outside the window.
    pub fn look_up(
        &self,
        cell: [u32; K],
        axis: usize,
        step: u32,
        table: &[u8],
        other: &dyn Fn(u64) -> u8,
        found: &mut [u8],
    ) {
        let Some(beyond) = found.len().checked_sub(1) else { return };
        let mut last = cell;
        let beyond = u32::try_from(beyond).unwrap_or(u32::MAX).saturating_mul(step);
        last[axis] = last[axis].saturating_add(beyond);
        for end in [cell, last] {
            assert!(self.window.contains_cell(end), "cell {end:?} is outside the window");
        }
        let along: usize = self.window.extent[..axis].iter().map(|&n| n as usize).product();
        self.cells.look_up((self.window.place(cell), along * step as usize), table, other, found);
    }

    /// The labels in storage order, to be written.
    pub(crate) fn cells_mut(&mut self) -> &mut Cells {
        &mut self.cells
    }

    /// The indices in storage of the row along axis 0 that holds a cell of the window.
    pub fn row(&self, mut cell: [u32; K]) -> std::ops::Range<usize> {
        cell[0] = self.window.corner[0];
        let start = self.window.place(cell);
        start..start + self.window.extent[0] as usize
    }

    /// Appends the cells of a region of the window in its storage order, as little-endian bytes.
    pub(crate) fn append_le(&self, region: &Region<K>, bytes: &mut Vec<u8>) {
        let rows = Rows::of(region, &self.window);
        rows.each(|start| append_le(&self.cells, start..start + rows.len(), bytes));
    }

    /// The cells in which this array differs from another of the same window. Cells of two types are compared as labels.
    ///
    /// ```
    /// use orthant::prelude::*;
    ///
    /// // An island of one cell that the border of its region does not show.
    /// let island = CellField::new(1, |cell| u32::from(cell == [5, 5]));
    /// let array = |rule| {
    ///     run(&Plan::builder([16, 16]).scheme(Scheme::uniform(1, 2, 1)).rule(rule).build()?, &island)
    /// };
    /// let (border, full) = (array(RuleKind::Border)?, array(RuleKind::Full)?);
    /// assert_eq!(border.array().zip(full.array()).map(|(a, b)| a.differing(b)), Some(1));
    /// # Ok::<(), orthant::Error>(())
    /// ```
    ///
    /// # Panics
    /// If the arrays have different numbers of cells.
    pub fn differing(&self, other: &Self) -> u64 {
        different(&self.cells, &other.cells)
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
    /// # use orthant::Error;
    /// # let plan = Plan::builder([3, 2]).scheme(Scheme::uniform(1, 2, 1)).rule(RuleKind::Full).build()?;
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
    #[doc(hidden)]
    pub fn fill(&mut self, region: &Region<K>, word: u64) {
        // SAFETY: nobody else has the array.
        unsafe { Canvas::new(self.window, &mut self.cells).fill(region, word) }
    }

    /// Sets the cells of a region that the window covers to the low bits of words, which come in storage order of the region.
    #[allow(unsafe_code)]
    #[doc(hidden)]
    pub fn write(&mut self, region: &Region<K>, words: Words<'_>) {
        // SAFETY: nobody else has the array.
        unsafe { Canvas::new(self.window, &mut self.cells).write(region, words) }
    }

    /// Copies the cells of a region, which both arrays cover, from another array of the same type.
    pub(crate) fn show(&mut self, other: &Self, region: &Region<K>) {
        let width = self.cells.kind().bytes() as usize;
        let (to, from) = (Rows::of(region, &self.window), Rows::of(region, &other.window));
        let row = to.len() * width;
        let (cells, others) = (self.cells.bytes_mut(), other.cells.as_bytes());
        let mut starts = Vec::new();
        from.each(|start| starts.push(start * width));
        let mut starts = starts.into_iter();
        to.each(|start| {
            let (to, from) = (start * width, starts.next().expect("regions have as many rows"));
            cells[to..to + row].copy_from_slice(&others[from..from + row]);
        });
    }

    /// A canvas of which every cell is painted once at most. Debug builds see to it.
    pub(crate) fn canvas(&mut self) -> Canvas<'_, K> {
        Canvas::watched(self.window, &mut self.cells)
    }
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

fn different(a: &Cells, b: &Cells) -> u64 {
    assert_eq!(a.len(), b.len(), "arrays of one window have as many cells");
    let differ = |&i: &usize| match a.kind() == b.kind() {
        true => a.word(i) != b.word(i),
        false => a.label(i) != b.label(i),
    };
    (0..a.len()).filter(differ).count() as u64
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
        assert_eq!(array.cells().as_bytes(), [1u16, 2, 3, 4, 9, 9].map(u16::to_ne_bytes).as_flattened());
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
