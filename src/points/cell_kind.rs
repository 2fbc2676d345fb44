//! The type of the cells of points.

use crate::cell::CellType;
use crate::points::batches::PointBatches;
use crate::points::error::PointsError;
use crate::points::value::PointsValue;

impl PointsValue {
    /// The type of a cell: a byte for `occupied`, for `count` a number that holds the number of all points, for `min` and `max` the
    /// type of the attribute, and for `mean` f32, or f64 of values of eight bytes.
    ///
    /// ```
    /// use orthant::CellType;
    /// use orthant::points::{Points, PointsValue};
    ///
    /// let points = Points::sphere(1.0, 10);
    /// assert_eq!(PointsValue::Count.kind(&points), Ok(CellType::U32));
    /// // There is no attribute.
    /// assert!(PointsValue::Mean.kind(&points).is_err());
    /// ```
    ///
    /// # Errors
    /// [`PointsError::NoAttribute`] if it is made of one and there is none.
    pub fn kind(self, points: &dyn PointBatches) -> Result<CellType, PointsError> {
        let measured = || points.measured().ok_or(PointsError::NoAttribute { value: self });
        Ok(match self {
            Self::Occupied => CellType::U8,
            Self::Count if points.count() > CellType::U32.most() => CellType::U64,
            Self::Count => CellType::U32,
            Self::Min | Self::Max => measured()?,
            Self::Mean if measured()?.bytes() == 8 => CellType::F64,
            Self::Mean => CellType::F32,
        })
    }
}
