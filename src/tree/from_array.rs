//! The shortest way from an array in memory to a tree.

use ndarray::{ArrayView, Dimension};

use crate::backend::Error;
use crate::cell::Cell;
use crate::field::ArrayField;
use crate::geometry::Sample;
use crate::plan::Plan;
use crate::rule::RuleKind;
use crate::tree::bottom_up::BottomUp;
use crate::tree::error::TreeError;
use crate::tree::stored::Tree;

impl<const K: usize> Tree<K> {
    /// Makes the tree of an array in memory. The library chooses the rest: leaves of about 4096 cells ([`Scheme::for_array`]), the
    /// Morton curve, and the cells themselves as coordinates. [`BottomUp`] takes a [`Plan`] of your own, a tolerance, and other
    /// sources.
    ///
    /// The array has K axes, and its last axis is axis 0, as in NumPy: an image has the shape `[height, width]`. Its cells are of
    /// any [`CellType`](crate::CellType), and they are not copied. Equal cells are one value. All NaNs count as one value, and the
    /// bricks of leaves keep their bits.
    ///
    /// ```
    /// use orthant::Tree;
    /// use orthant::ndarray::Array3;
    ///
    /// let volume = Array3::from_shape_fn((64, 96, 128), |(z, y, x)| if x < 60 && y < 40 && z < 30 { 7u16 } else { 0 });
    /// let tree = Tree::<3>::from_array(volume.view())?;
    /// assert_eq!(tree.get::<u16>([59, 39, 29]), Some(7));
    /// assert_eq!(tree.get::<u16>([60, 39, 29]), Some(0));
    /// # Ok::<(), orthant::tree::TreeError>(())
    /// ```
    ///
    /// # Errors
    /// [`TreeError::Run`] if the array has no cells, not K axes, or too many cells on an axis, or if there is no memory.
    ///
    /// [`Scheme::for_array`]: crate::geometry::Scheme::for_array
    pub fn from_array<T: Cell, D: Dimension>(array: ArrayView<'_, T, D>) -> Result<Self, TreeError> {
        let source = ArrayField::<K, T>::new(array).map_err(Error::from)?;
        let plan = Plan::builder(source.size()).sample(Sample::Centre).rule(RuleKind::Full).build();
        BottomUp::new(&plan.map_err(Error::from)?, &source)?.tree()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array, Array2, Array6, IxDyn};

    use super::*;

    /// Static dimensions to 6, dynamic ones to 8, and views whose strides are of any sign.
    #[test]
    fn arrays_of_every_kind() {
        let six = Array6::from_shape_fn((2, 3, 4, 5, 2, 3), |(f, e, d, c, b, a)| (a + b + c + d + e + f) as i64 - 6);
        let tree = Tree::<6>::from_array(six.view()).unwrap();
        assert_eq!(tree.get::<i64>([2, 1, 4, 3, 2, 1]), Some(7));
        let eight = Array::from_shape_fn(IxDyn(&[2; 8]), |at| at[7] as f32 - at[0] as f32);
        let tree = Tree::<8>::from_array(eight.view()).unwrap();
        assert_eq!(tree.get::<f32>([1, 0, 0, 0, 0, 0, 0, 0]), Some(1.0));
        assert_eq!(tree.get::<f32>([0, 0, 0, 0, 0, 0, 0, 1]), Some(-1.0));
        let flat = Array2::from_shape_fn((70, 90), |(y, x)| (y * 90 + x) as u16);
        let turned = flat.t().slice_move(ndarray::s![..;-1, ..]);
        let tree = Tree::<2>::from_array(turned).unwrap();
        assert_eq!(tree.get::<u16>([3, 0]), Some(flat[[3, 89]]));
    }

    #[test]
    fn arrays_that_cannot_be() {
        let error = |array: Array2<u8>| Tree::<3>::from_array(array.view()).unwrap_err().to_string();
        assert_eq!(error(Array2::zeros((3, 4))), "the array has 2 axes, the field 3");
        let error = Tree::<2>::from_array(Array2::<u8>::zeros((0, 4)).view()).unwrap_err();
        assert_eq!(error.to_string(), "the array is empty");
    }
}
