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
