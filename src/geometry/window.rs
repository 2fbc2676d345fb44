//! Boxes that are asked for: they have cells, all of them among those that there are.

use crate::geometry::region::Region;

/// A box that is empty, or that reaches beyond the cells there are.
///
/// ```
/// use orthant::geometry::{Region, WindowError};
///
/// // Cells 8 to 11 of an axis of ten.
/// let window = Region { corner: [0, 8], extent: [4, 4] };
/// assert_eq!(window.within([10, 10]), Err(WindowError { axis: 1, corner: 8, extent: 4, size: 10 }));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "window: {extent} cells from {corner} on of axis {axis}; at least 1 of the {size} there are is needed, and none beyond"
)]
pub struct WindowError {
    /// The axis.
    pub axis: usize,
    /// The box's first cell.
    pub corner: u32,
    /// Its cells.
    pub extent: u32,
    /// Cells of the axis.
    pub size: u32,
}

impl<const K: usize> Region<K> {
    /// Checks that it has cells, all of them among `size`.
    ///
    /// # Errors
    /// [`WindowError`] with the first axis on which that is not so.
    pub fn within(&self, size: [u32; K]) -> Result<(), WindowError> {
        let wrong = |&axis: &usize| {
            self.extent[axis] == 0
                || u64::from(self.corner[axis]) + u64::from(self.extent[axis]) > u64::from(size[axis])
        };
        (0..K).find(wrong).map_or(Ok(()), |axis| {
            let (corner, extent) = (self.corner[axis], self.extent[axis]);
            Err(WindowError { axis, corner, extent, size: size[axis] })
        })
    }
}
