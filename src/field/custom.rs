//! Fields that users bring: a function of the cell, or an array.

use ndarray::{ArrayViewD, Axis, Dimension};

use crate::field::definition::Field;
use crate::field::error::FieldError;

/// A field given by a function of the cell's coordinates.
///
/// ```
/// use orthant::field::{CellField, Field};
/// let stripes = CellField::<2, _>::new(1, |[x, _]| x / 8 % 2);
/// let mut labels = [9; 2];
/// stripes.evaluate(&[[7, 0], [8, 0]], &mut labels);
/// assert_eq!(labels, [0, 1]);
/// ```
pub struct CellField<const K: usize, F> {
    label: F,
    max_label: u32,
}

impl<const K: usize, F: Fn([u32; K]) -> u32 + Sync> CellField<K, F> {
    /// A field whose labels are at most `max_label`.
    pub fn new(max_label: u32, label: F) -> Self {
        Self { label, max_label }
    }
}

impl<const K: usize, F: Fn([u32; K]) -> u32 + Sync> Field<K> for CellField<K, F> {
    fn evaluate(&self, cells: &[[u32; K]], labels: &mut [u32]) {
        for (cell, label) in cells.iter().zip(labels) {
            *label = (self.label)(*cell);
        }
    }

    fn max_label(&self) -> u32 {
        self.max_label
    }
}

/// A field that is an array already: users' own dense data, to be found uniform and stored sparsely.
///
/// The array has shape [n_{k-1}, .., n_0], as [`DenseArray::view_u16`](crate::result::DenseArray::view_u16) returns it.
pub struct ArrayField<'a, const K: usize> {
    array: ArrayViewD<'a, u32>,
    max_label: u32,
}

impl<'a, const K: usize> ArrayField<'a, K> {
    /// A field over `array`; the domain's extents must be the array's, axes reversed.
    ///
    /// # Errors
    /// [`FieldError`] if the array does not have K axes, is empty, or holds `u32::MAX`, which is not a label.
    pub fn new(array: ArrayViewD<'a, u32>) -> Result<Self, FieldError> {
        if array.ndim() != K {
            return Err(FieldError::ArrayAxes { found: array.ndim(), k: K });
        }
        let max_label = array.iter().copied().max().ok_or(FieldError::EmptyArray)?;
        if max_label == u32::MAX {
            return Err(FieldError::NoLabel);
        }
        Ok(Self { array, max_label })
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> [u32; K] {
        std::array::from_fn(|j| self.array.len_of(Axis(K - 1 - j)) as u32)
    }
}

impl<const K: usize> Field<K> for ArrayField<'_, K> {
    fn evaluate(&self, cells: &[[u32; K]], labels: &mut [u32]) {
        let mut index = self.array.raw_dim();
        for (cell, label) in cells.iter().zip(labels) {
            for (slot, &c) in index.as_array_view_mut().iter_mut().zip(cell.iter().rev()) {
                *slot = c as usize;
            }
            *label = self.array[index.clone()];
        }
    }

    fn max_label(&self) -> u32 {
        self.max_label
    }
}
