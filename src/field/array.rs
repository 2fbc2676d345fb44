//! A field that is an array already.

use bytemuck::cast_slice;
use ndarray::{ArrayView, ArrayViewD, Axis, Dimension};

use crate::abi::{device_struct, padded};
use crate::cell::{Cell, WordsMut};
use crate::field::block_proofs;
use crate::field::blocks::ArrayCells;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::twin::DeviceTwin;
use crate::geometry::Region;
use crate::per_axis;
use crate::rule::{Verdict, exact};

device_struct! {
    /// An array, and what a device knows of its regions (kernels/fields/array.cuh).
    struct ArrayArgs {
        /// The elements, axis 0 fastest.
        cells: u64,
        /// The pyramid, level after level: a cell of each region, and whether its cells differ.
        values: u64,
        mixed: u64,
        /// Cells per axis of the domain, and of what lies at `cells`.
        size: [u32; 8],
        lies: [u32; 8],
        /// Regions of level 0 per axis, and levels of the pyramid.
        grid: [u32; 8],
        levels: u32,
        padding: u32,
    }
}

/// The twin of an array of `size` elements at an address, 0 where that is not known yet.
pub(super) fn twin<const K: usize>(size: [u32; K], cells: u64) -> DeviceTwin {
    let size = padded(size);
    DeviceTwin::built_in("fields/array.cuh", &ArrayArgs { cells, size, lies: size, ..ArrayArgs::default() }).surveyed()
}

/// A field whose values are an array of yours. Its regions are found uniform, and are stored sparsely.
///
/// The array has the shape [n_{k-1}, .., n_0]: its last axis is axis 0.
/// [`DenseArray::view`](crate::result::DenseArray::view) returns the same shape.
///
/// ```
/// use orthant::ndarray::Array2;
/// use orthant::prelude::*;
///
/// // Three rows of four cells: axis 0 of the field is the last axis of the array.
/// let image = Array2::from_shape_fn((3, 4), |(y, x)| (10 * y + x) as i16);
/// let field = ArrayField::<2, i16>::new(image.view())?;
/// assert_eq!(field.size(), [4, 3]);
/// let plan = Plan::builder(field.size()).scheme(Scheme::uniform(1, 2, 1)).build()?;
/// assert_eq!(run(&plan, &field)?.array().map(|array| array.word([3, 2])), Some(23));
/// # Ok::<(), orthant::Error>(())
/// ```
pub struct ArrayField<'a, const K: usize, T> {
    array: ArrayViewD<'a, T>,
}

impl<'a, const K: usize, T: Cell> ArrayField<'a, K, T> {
    /// A field over `array`, of static or dynamic dimensions. The domain must have the array's extents, with the axes
    /// reversed.
    ///
    /// # Errors
    /// [`FieldError`] if the array does not have K axes, is empty, or has more than 2^32 − 1 cells on an axis.
    pub fn new<D: Dimension>(array: ArrayView<'a, T, D>) -> Result<Self, FieldError> {
        let array = array.into_dyn();
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

    /// The array.
    pub(crate) fn view(&self) -> ArrayViewD<'_, T> {
        self.array.view()
    }

    /// Cells per axis, axis 0 first.
    pub fn size(&self) -> [u32; K] {
        per_axis::each(|j| self.array.len_of(Axis(K - 1 - j)) as u32)
    }
}

impl<const K: usize, T: Cell> std::fmt::Debug for ArrayField<'_, K, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ArrayField").field("kind", &T::TYPE).field("size", &self.size()).finish_non_exhaustive()
    }
}

impl<const K: usize, T: Cell> Field<K> for ArrayField<'_, K, T> {
    fn labels(&self) -> Labels {
        Labels::values(T::TYPE)
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<K>> {
        Some(self)
    }

    /// A copy of the whole array goes to the device.
    fn twin(&self) -> Option<DeviceTwin> {
        let twin = twin(self.size(), 0);
        let place = twin.place("cells");
        Some(twin.copied(place, self.array.iter().copied()))
    }
}

/// Complete: the answer is never that nothing is known.
impl<const K: usize, T: Cell> Prove<K> for ArrayField<'_, K, T> {
    fn prove(&self, region: &Region<K>, _: Payload) -> Verdict {
        let mut cells = region.cells().map(|cell| {
            let mut index = self.array.raw_dim();
            for (slot, &c) in index.as_array_view_mut().iter_mut().zip(cell.iter().rev()) {
                *slot = c as usize;
            }
            exact::key(T::TYPE, self.array[index].word())
        });
        match cells.next() {
            Some(first) if cells.all(|word| word == first) => Verdict::Uniform(first),
            _ => Verdict::Mixed,
        }
    }

    /// Of an array whose elements lie one after the other; else every proof looks at the cells of its region.
    fn survey(&self, window: &Region<K>) -> Result<Option<Box<dyn Prove<K> + '_>>, FieldError> {
        let Some(cells) = self.array.as_slice() else { return Ok(None) };
        block_proofs::survey(ArrayCells::new(T::TYPE, &self.size(), cast_slice(cells)), window)
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
