//! The rows of a box within an array.

use crate::dimension::MAX_DIM;
use crate::geometry::region::Region;

/// Where the rows along axis 0 of a box begin in an array that holds it. The number of dimensions is no part of the type: loops over
/// cells are compiled once per type of cell.
#[derive(Debug, Clone, Copy)]
#[doc(hidden)]
pub struct Rows {
    dimensions: usize,
    /// Cells of the box per axis.
    extent: [u32; MAX_DIM],
    /// Cells of the array from one place to the next, per axis.
    strides: [usize; MAX_DIM],
    /// The index of the first cell.
    start: usize,
    /// Cells of a row.
    row: usize,
}

impl Rows {
    /// The rows of a box in an array over `window`, which holds it.
    #[inline]
    #[doc(hidden)]
    pub fn of<const K: usize>(region: &Region<K>, window: &Region<K>) -> Self {
        let (mut extent, mut strides, mut stride, mut start) = ([1; MAX_DIM], [1; MAX_DIM], 1, 0);
        for j in 0..K {
            extent[j] = region.extent[j];
            strides[j] = stride;
            start += (region.corner[j] - window.corner[j]) as usize * stride;
            stride *= window.extent[j] as usize;
        }
        Self { dimensions: K, extent, strides, start, row: region.extent[0] as usize }
    }

    /// All of so many cells, as one row.
    #[inline]
    pub(crate) fn one(cells: usize) -> Self {
        Self { dimensions: 1, extent: [1; MAX_DIM], strides: [1; MAX_DIM], start: 0, row: cells }
    }

    /// The index of the first cell.
    #[inline]
    pub(crate) fn start(&self) -> usize {
        self.start
    }

    /// Cells of a row.
    #[inline]
    #[doc(hidden)]
    pub fn len(&self) -> usize {
        self.row
    }

    /// Calls `row` with the index of the first cell of each row, in storage order: steps from row to row, since a row of a small box is
    /// read in less time than its index is computed.
    #[inline]
    #[doc(hidden)]
    pub fn each(&self, mut row: impl FnMut(usize)) {
        self.all(|start| {
            row(start);
            true
        });
    }

    /// Sets all cells of the box.
    #[doc(hidden)]
    pub fn fill<T: Copy>(&self, cells: &mut [T], value: T) {
        self.each(|start| cells[start..start + self.len()].fill(value));
    }

    /// Copies the cells of a box of the same extent in another array.
    pub(crate) fn copy<T: Copy>(&self, cells: &mut [T], from: &Self, others: &[T]) {
        let mut other = Walk::of(from);
        self.each(|start| {
            let row = &others[other.start..other.start + self.len()];
            cells[start..start + self.len()].copy_from_slice(row);
            other.next(from);
        });
    }

    /// The same until one answers false; true if none does.
    #[inline]
    pub(crate) fn all(&self, mut row: impl FnMut(usize) -> bool) -> bool {
        let mut walk = Walk::of(self);
        loop {
            if !row(walk.start) {
                return false;
            }
            if !walk.next(self) {
                return true;
            }
        }
    }
}

/// A row among others.
struct Walk {
    /// Its place in the box.
    at: [u32; MAX_DIM],
    /// The index of its first cell.
    start: usize,
}

impl Walk {
    fn of(rows: &Rows) -> Self {
        Self { at: [0; MAX_DIM], start: rows.start }
    }

    /// Goes to the next row; false after the last.
    #[inline]
    fn next(&mut self, rows: &Rows) -> bool {
        for j in 1..rows.dimensions {
            self.at[j] += 1;
            self.start += rows.strides[j];
            if self.at[j] < rows.extent[j] {
                return true;
            }
            self.start -= self.at[j] as usize * rows.strides[j];
            self.at[j] = 0;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check<const K: usize>(corner: [u32; K], extent: [u32; K], margin: u32) {
        let window =
            Region { corner: corner.map(|c| c.saturating_sub(margin)), extent: extent.map(|e| e + 2 * margin) };
        let region = Region { corner, extent };
        let mut starts = Vec::new();
        Rows::of(&region, &window).each(|start| starts.push(start));
        assert_eq!(starts, region.rows().map(|row| window.place(row)).collect::<Vec<_>>());
        assert_eq!(Rows::of(&region, &window).len() as u32, extent[0]);
    }

    proptest! {
        #[test]
        fn rows_are_the_regions_wherever_it_lies(
            corner in prop::array::uniform4(0u32..9), extent in prop::array::uniform4(1u32..5), margin in 0u32..3,
        ) {
            check(corner, extent, margin);
            check([corner[0], corner[1]], [extent[0], extent[1]], margin);
            check([corner[0]], [extent[0]], margin);
        }
    }
}
