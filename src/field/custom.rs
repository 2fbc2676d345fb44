//! A field that is a function of the cell.

use crate::cell::{Cell, WordsMut};
use crate::field::definition::{Evaluate, Field};
use crate::field::labels::Labels;

/// A field given by a function of a cell's coordinates.
///
/// ```
/// use orthant::prelude::*;
/// use orthant::CellType;
/// use orthant::field::Labels;
/// let stripes = CellField::<2, _>::new(1, |[x, _]| x / 8 % 2);
/// let heights = CellField::<2, _>::values(|[_, y]| y as f32 / 2.0);
/// assert_eq!((stripes.labels(), heights.labels()), (Labels::counts(1), Labels::values(CellType::F32)));
/// ```
pub struct CellField<const K: usize, F> {
    label: F,
    labels: Labels,
}

impl<const K: usize, F> std::fmt::Debug for CellField<K, F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CellField").field("labels", &self.labels).finish_non_exhaustive()
    }
}

impl<const K: usize, F: Fn([u32; K]) -> u32 + Sync> CellField<K, F> {
    /// A field of counts. The function returns at most `most`.
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

impl<const K: usize, T: Cell, F: Fn([u32; K]) -> T + Send + Sync> Field<K> for CellField<K, F> {
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
