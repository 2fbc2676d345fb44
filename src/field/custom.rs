//! Fields that users bring: a function of the cell, or an array.

use ndarray::{ArrayViewD, Axis, Dimension};

use crate::cell::{Cell, WordsMut};
use crate::field::definition::{Evaluate, Field};
use crate::field::error::FieldError;
use crate::field::labels::Labels;

/// A field given by a function of the cell's coordinates.
///
/// ```
/// use orthant::prelude::*;
/// let stripes = CellField::<2, _>::new(1, |[x, _]| x / 8 % 2);
/// let heights = CellField::<2, _>::values(|[_, y]| y as f32 / 2.0);
/// assert_eq!((stripes.labels(), heights.labels()), (Labels::counts(1), Labels::values(CellType::F32)));
/// ```
pub struct CellField<const K: usize, F> {
    label: F,
    labels: Labels,
}

impl<const K: usize, F: Fn([u32; K]) -> u32 + Sync> CellField<K, F> {
    /// A field of counts of at most `most`.
    pub fn new(most: u32, label: F) -> Self {
        Self { label, labels: Labels::counts(most.into()) }
    }
}

impl<const K: usize, F> CellField<K, F> {
    /// A field of values of any type.
    pub fn values<T: Cell>(label: F) -> Self
    where
        F: Fn([u32; K]) -> T + Sync,
    {
        Self { label, labels: Labels::values(T::TYPE) }
    }
}

impl<const K: usize, T: Cell, F: Fn([u32; K]) -> T + Sync> Field<K> for CellField<K, F> {
    fn labels(&self) -> Labels {
        self.labels
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }
}

impl<const K: usize, T: Cell, F: Fn([u32; K]) -> T + Sync> Evaluate<K> for CellField<K, F> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|&cell| (self.label)(cell)));
    }
}

/// A field that is an array already: users' own dense data, to be found uniform and stored sparsely.
///
/// The array has shape [n_{k-1}, .., n_0], as [`DenseArray::view`](crate::result::DenseArray::view) returns it.
pub struct ArrayField<'a, const K: usize, T> {
    array: ArrayViewD<'a, T>,
}

impl<'a, const K: usize, T: Cell> ArrayField<'a, K, T> {
    /// A field over `array`; the domain's extents must be the array's, axes reversed.
    ///
    /// # Errors
    /// [`FieldError`] if the array does not have K axes, is empty, or has more than 2^32 − 1 cells on an axis.
    pub fn new(array: ArrayViewD<'a, T>) -> Result<Self, FieldError> {
        if array.ndim() != K {
            return Err(FieldError::ArrayAxes { found: array.ndim(), k: K });
        }
        if array.is_empty() {
            return Err(FieldError::EmptyArray);
        }
        match array.shape().iter().find(|&&cells| u32::try_from(cells).is_err()) {
            Some(&cells) => Err(FieldError::LongArray { cells }),
            None => Ok(Self { array }),
        }
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> [u32; K] {
        std::array::from_fn(|j| self.array.len_of(Axis(K - 1 - j)) as u32)
    }
}

impl<const K: usize, T: Cell> Field<K> for ArrayField<'_, K, T> {
    fn labels(&self) -> Labels {
        Labels::values(T::TYPE)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }
}

impl<const K: usize, T: Cell> Evaluate<K> for ArrayField<'_, K, T> {
    fn evaluate(&self, cells: &[[u32; K]], labels: WordsMut<'_>) {
        let mut index = self.array.raw_dim();
        labels.put(cells.iter().map(|cell| {
            for (slot, &c) in index.as_array_view_mut().iter_mut().zip(cell.iter().rev()) {
                *slot = c as usize;
            }
            self.array[index.clone()]
        }));
    }
}
