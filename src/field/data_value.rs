//! What a cell of data is worth: the values of meshes and of points.

use crate::points::PointsValue;
use crate::registry::registry;

registry! {
    /// What a cell of data is worth.
    pub enum DataValue("value") {
        /// 1 where the sample of the cell lies inside of a closed mesh.
        Inside = "inside",
        /// 1 where the surface of a mesh meets the cell.
        Surface = "surface",
        /// How far the sample of the cell lies from a closed mesh, negative inside, in a band about it.
        Distance = "distance",
        /// 1 where the cell holds a point.
        Occupied = "occupied",
        /// The number of points in the cell.
        Count = "count",
        /// The least value of an attribute of the points in the cell.
        Min = "min",
        /// The greatest value.
        Max = "max",
        /// The mean of the values.
        Mean = "mean",
    }
}

impl DataValue {
    /// Those of meshes; the others are of points.
    pub const OF_MESHES: &'static [Self] = &[Self::Inside, Self::Surface, Self::Distance];

    /// The same as a value of points; None of what a mesh has.
    ///
    /// ```
    /// use orthant::field::DataValue;
    /// use orthant::points::PointsValue;
    ///
    /// assert_eq!(DataValue::Count.of_points(), Some(PointsValue::Count));
    /// assert_eq!(DataValue::Inside.of_points(), None);
    /// ```
    pub fn of_points(self) -> Option<PointsValue> {
        PointsValue::ALL.iter().copied().find(|value| value.name() == self.name())
    }
}
