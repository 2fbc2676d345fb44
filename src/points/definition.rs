//! Points: coordinates, and at most one number beside them.
//!
//! Points that exist are checked: there is one at least, and all numbers are finite. Coordinates lie point after point, since that is how
//! files have them and how cells are found from them.

use std::sync::Arc;

use crate::points::attribute::PointAttribute;
use crate::points::axes::has_axes;
use crate::points::bounds::bounds;
use crate::points::error::PointsError;
use crate::points::extent::PointsExtent;
use crate::points::hash::PointsHash;

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
    extent: PointsExtent,
    attribute: Option<PointAttribute>,
    left_out: u64,
}

/// All coordinates are finite.
impl Eq for Points {}

impl Points {
    /// Checks points of `axes` coordinates each, point after point.
    ///
    /// # Errors
    /// [`PointsError`] names the point and the axis, and what is allowed.
    pub fn new(axes: usize, coordinates: Vec<f64>) -> Result<Self, PointsError> {
        if !has_axes(axes) {
            return Err(PointsError::Axes { axes });
        }
        if !coordinates.len().is_multiple_of(axes) {
            return Err(PointsError::Ragged { numbers: coordinates.len(), axes });
        }
        if coordinates.is_empty() {
            return Err(PointsError::None);
        }
        let extent = PointsExtent::new(bounds(axes, &coordinates)?);
        Ok(Self { name: None, axes, coordinates, extent, attribute: None, left_out: 0 })
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

    /// The same points, and how many their file has beside them that it marks as not measured.
    #[must_use]
    #[doc(hidden)]
    pub fn leaving_out(self, points: u64) -> Self {
        Self { left_out: points, ..self }
    }

    /// How many points their file has beside them that it marks as not measured.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// `[lowest, highest]` coordinate on each axis.
    pub fn bounds(&self) -> &[[f64; 2]] {
        self.extent.bounds()
    }

    /// Bytes that they take in memory.
    pub fn bytes(&self) -> u64 {
        8 * (self.coordinates.len() + self.attribute.as_ref().map_or(0, PointAttribute::len)) as u64
    }

    /// Where they lie.
    pub fn extent(&self) -> &PointsExtent {
        &self.extent
    }

    /// The window that `size` cells cover unless another is given ([`PointsExtent::window`]).
    ///
    /// # Errors
    /// As there.
    pub fn window(&self, size: &[u32]) -> Result<Vec<[f64; 2]>, PointsError> {
        self.extent.window(size)
    }

    /// The XXH3-64 of coordinates and values, as `xxh3:` and sixteen hexadecimal digits. The name is no part of it.
    pub fn hash(&self) -> String {
        let mut hash = PointsHash::new(self.axes);
        hash.add(&self.coordinates, &[]);
        if let Some(attribute) = &self.attribute {
            let numbers = |words: &[u64]| words.iter().map(|&word| attribute.kind().number(word)).collect::<Vec<_>>();
            attribute.words().chunks(1 << 12).for_each(|words| hash.add(&[], &numbers(words)));
        }
        hash.text(self.attribute.as_ref().map(PointAttribute::kind))
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
