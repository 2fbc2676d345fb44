//! Where points lie, and the window over them.

use crate::per_axis::window_text;
use crate::points::error::PointsError;

/// The range of points on each axis.
///
/// ```
/// use orthant::points::{Points, PointsError};
///
/// let points = Points::new(2, vec![0.0, 1.0, 8.0, 3.0])?;
/// assert_eq!(points.extent().window(&[4, 4])?, [[0.0, 8.0], [-2.0, 6.0]]);
/// assert_eq!(points.extent().window(&[4, 1])?, [[0.0, 8.0], [1.0, 3.0]]);
/// # Ok::<(), PointsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct PointsExtent {
    bounds: Vec<[f64; 2]>,
}

impl PointsExtent {
    #[doc(hidden)]
    pub fn new(bounds: Vec<[f64; 2]>) -> Self {
        Self { bounds }
    }

    /// The coordinates of a point: 2 to 6.
    pub fn axes(&self) -> usize {
        self.bounds.len()
    }

    /// `[lowest, highest]` coordinate on each axis.
    pub fn bounds(&self) -> &[[f64; 2]] {
        &self.bounds
    }

    /// The window that `size` cells cover unless another is given.
    ///
    /// In 2-D and 3-D cells are squares and cubes, as small as they can be so that all points are covered, which lie in the middle. From
    /// 4-D on axes can have different units, and the window is the range of the coordinates on each axis, or one unit where all are the same.
    ///
    /// # Errors
    /// [`PointsError::Same`] if all coordinates are the same, [`PointsError::Axes`] if there are not as many sizes as axes.
    pub fn window(&self, size: &[u32]) -> Result<Vec<[f64; 2]>, PointsError> {
        if size.len() != self.axes() {
            return Err(PointsError::Axes { axes: size.len() });
        }
        let length = |&[low, high]: &[f64; 2]| high - low;
        if self.bounds.iter().all(|bounds| length(bounds) == 0.0) {
            let about: Vec<_> = self.bounds.iter().map(|[low, _]| [low - 0.5, low + 0.5]).collect();
            return Err(PointsError::Same { example: window_text(&about) });
        }
        if self.axes() > 3 {
            let own = |&[low, high]: &[f64; 2]| if low < high { [low, high] } else { [low - 0.5, low + 0.5] };
            return Ok(self.bounds.iter().map(own).collect());
        }
        // No axis has less than a cell: one that is as long as a cell needs no second.
        let pitch = self.bounds.iter().zip(size).map(|(bounds, &n)| length(bounds) / f64::from(n)).fold(0.0, f64::max);
        let about = |(&[low, high], &n): (&[f64; 2], &u32)| {
            let (middle, half) = (low + (high - low) / 2.0, pitch * f64::from(n) / 2.0);
            // On the longest axis it is the range itself.
            let exact = (high - low) / f64::from(n) == pitch;
            if exact { [low, high] } else { [low.min(middle - half), high.max(middle + half)] }
        };
        Ok(self.bounds.iter().zip(size).map(about).collect())
    }
}
