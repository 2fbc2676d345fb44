//! Points: coordinates, and at most one number beside them.
//!
//! Points that exist are checked: there is one at least, and all numbers are finite. Coordinates lie point after point, since that is how
//! files have them and how cells are found from them.

use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use crate::per_axis::window_text;
use crate::points::attribute::PointAttribute;
use crate::points::bounds::bounds;
use crate::points::error::PointsError;

/// Points in 2 to 6 dimensions, in any order. Equal points count as often as they come.
///
/// ```
/// use orthant::points::{PointAttribute, Points, PointsError};
///
/// // Three points in two dimensions, point after point.
/// let points = Points::new(2, vec![0.0, 0.0, 4.0, 1.0, 2.0, 8.0])?;
/// assert_eq!((points.len(), points.axes()), (3, 2));
/// assert_eq!(points.bounds(), [[0.0, 4.0], [0.0, 8.0]]);
/// let points = points.attribute(PointAttribute::new::<u8>("class", &[1, 1, 2]))?;
/// assert_eq!(points.measured().map(PointAttribute::name), Some("class"));
/// // What is no coordinate is named.
/// let wrong = Points::new(2, vec![0.0, f64::NAN]);
/// assert!(matches!(wrong, Err(PointsError::Coordinate { point: 0, axis: 1, .. })));
/// # Ok::<(), PointsError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Points {
    name: Option<Arc<str>>,
    axes: usize,
    coordinates: Vec<f64>,
    bounds: Vec<[f64; 2]>,
    attribute: Option<PointAttribute>,
}

/// All coordinates are finite.
impl Eq for Points {}

impl Points {
    /// Checks points of `axes` coordinates each, point after point.
    ///
    /// # Errors
    /// [`PointsError`] names the point and the axis, and what is allowed.
    pub fn new(axes: usize, coordinates: Vec<f64>) -> Result<Self, PointsError> {
        if !(2..=6).contains(&axes) {
            return Err(PointsError::Axes { axes });
        }
        if !coordinates.len().is_multiple_of(axes) {
            return Err(PointsError::Ragged { numbers: coordinates.len(), axes });
        }
        if coordinates.is_empty() {
            return Err(PointsError::None);
        }
        let bounds = bounds(axes, &coordinates)?;
        Ok(Self { name: None, axes, coordinates, bounds, attribute: None })
    }

    /// The same points with a number each.
    ///
    /// # Errors
    /// [`PointsError`] if there are more or fewer values than points, or one is not finite.
    pub fn attribute(self, attribute: PointAttribute) -> Result<Self, PointsError> {
        attribute.check(self.len())?;
        Ok(Self { attribute: Some(attribute), ..self })
    }

    /// The same points under a name, such as that of their file.
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Their name, if they have one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The number of points, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is at least one")]
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.axes
    }

    /// The coordinates of a point: 2 to 6.
    pub fn axes(&self) -> usize {
        self.axes
    }

    /// All coordinates, point after point.
    pub fn coordinates(&self) -> &[f64] {
        &self.coordinates
    }

    /// The number that each point has, if there is one.
    pub fn measured(&self) -> Option<&PointAttribute> {
        self.attribute.as_ref()
    }

    /// `[lowest, highest]` coordinate on each axis.
    pub fn bounds(&self) -> &[[f64; 2]] {
        &self.bounds
    }

    /// Bytes that they take in memory.
    pub fn bytes(&self) -> u64 {
        8 * (self.coordinates.len() + self.attribute.as_ref().map_or(0, PointAttribute::len)) as u64
    }

    /// The window that `size` cells cover unless another is given.
    ///
    /// In 2-D and 3-D cells are squares and cubes, as small as they can be so that all points are covered, which lie in the middle. From
    /// 4-D on axes can have different units, and the window is the range of the coordinates on each axis, or one unit where all are the same.
    ///
    /// ```
    /// use orthant::points::{Points, PointsError};
    ///
    /// let points = Points::new(2, vec![0.0, 1.0, 8.0, 3.0])?;
    /// assert_eq!(points.window(&[4, 4])?, [[0.0, 8.0], [-2.0, 6.0]]);
    /// assert_eq!(points.window(&[4, 1])?, [[0.0, 8.0], [1.0, 3.0]]);
    /// # Ok::<(), PointsError>(())
    /// ```
    ///
    /// # Errors
    /// [`PointsError::Same`] if all coordinates are the same, [`PointsError::Axes`] if there are not as many sizes as axes.
    pub fn window(&self, size: &[u32]) -> Result<Vec<[f64; 2]>, PointsError> {
        if size.len() != self.axes {
            return Err(PointsError::Axes { axes: size.len() });
        }
        let length = |&[low, high]: &[f64; 2]| high - low;
        if self.bounds.iter().all(|bounds| length(bounds) == 0.0) {
            let about: Vec<_> = self.bounds.iter().map(|[low, _]| [low - 0.5, low + 0.5]).collect();
            return Err(PointsError::Same { example: window_text(&about) });
        }
        if self.axes > 3 {
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

    /// The XXH3-64 of coordinates and values, as `xxh3:` and sixteen hexadecimal digits. The name is no part of it.
    pub fn hash(&self) -> String {
        let mut hash = Xxh3::new();
        hash.update(&(self.axes as u64).to_le_bytes());
        match cfg!(target_endian = "little") {
            true => hash.update(bytemuck::cast_slice(&self.coordinates)),
            false => self.coordinates.iter().for_each(|coordinate| hash.update(&coordinate.to_le_bytes())),
        }
        if let Some(attribute) = &self.attribute {
            hash.update(attribute.kind().name().as_bytes());
            attribute.words().iter().for_each(|word| hash.update(&word.to_le_bytes()));
        }
        format!("xxh3:{:016x}", hash.digest())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_checked() {
        let wrong = |axes, numbers: &[f64]| Points::new(axes, numbers.to_vec()).unwrap_err();
        assert_eq!(wrong(3, &[]), PointsError::None);
        assert_eq!(wrong(7, &[0.0; 7]), PointsError::Axes { axes: 7 });
        assert_eq!(wrong(3, &[0.0; 4]), PointsError::Ragged { numbers: 4, axes: 3 });
        // The last of many.
        for (value, place) in [(f64::NAN, 299_999), (f64::INFINITY, 0), (f64::NEG_INFINITY, 123_457)] {
            let mut many = vec![0.5; 300_000];
            many[place] = value;
            let error = Points::new(3, many).unwrap_err();
            let PointsError::Coordinate { point, axis, .. } = error else { panic!("{error}") };
            assert_eq!((point, axis), (place / 3, place % 3));
        }
        let points = Points::new(2, vec![0.0; 4]).unwrap();
        let values = |values: &[f32]| points.clone().attribute(PointAttribute::new("i", values)).map(drop);
        assert_eq!(values(&[1.0]), Err(PointsError::Values { name: "i".into(), values: 1, points: 2 }));
        let error = values(&[1.0, f32::INFINITY]).unwrap_err();
        assert_eq!(error.to_string(), "attribute 'i' of point 1 is inf; values must be finite numbers");
    }

    #[test]
    fn windows_hold_all_points() {
        let flat = Points::new(3, vec![1.0, 5.0, 0.25, 3.0, 5.0, 0.5]).unwrap();
        assert_eq!(flat.window(&[8; 3]).unwrap(), [[1.0, 3.0], [4.0, 6.0], [-0.625, 1.375]]);
        assert!(matches!(flat.window(&[8; 2]), Err(PointsError::Axes { axes: 2 })));
        let four = Points::new(4, vec![0.0, 1.0, 2.0, 3.0, 4.0, 1.0, 2.5, 3.0]).unwrap();
        assert_eq!(four.window(&[8; 4]).unwrap(), [[0.0, 4.0], [0.5, 1.5], [2.0, 2.5], [2.5, 3.5]]);
        let same = Points::new(2, vec![3.0, -1.0, 3.0, -1.0]).unwrap().window(&[8; 2]).unwrap_err();
        let expected = "all points have the same coordinates; a window is needed, as in --domain 2.5:3.5,-1.5:-0.5";
        assert_eq!(same.to_string(), expected);
    }

    #[test]
    fn hashes_are_of_the_content() {
        let points = |numbers: &[f64]| Points::new(2, numbers.to_vec()).unwrap();
        let one = points(&[1.0, 2.0]);
        assert_eq!(one.hash(), one.clone().named("a.xyz").hash());
        let with = one.clone().attribute(PointAttribute::new::<u8>("i", &[3])).unwrap();
        assert!(one.hash() != with.hash() && one.hash() != points(&[2.0, 1.0]).hash());
    }
}
