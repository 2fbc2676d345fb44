//! What a cell of points is worth.

use crate::registry::registry;

registry! {
    /// What a cell with points is worth. A cell without points is 0.
    pub enum PointsValue("value of points") {
        /// 1.
        Occupied = "occupied",
        /// The number of points in it.
        Count = "count",
        /// The least value of an attribute.
        Min = "min",
        /// The greatest value of an attribute.
        Max = "max",
        /// The mean of an attribute, summed in the order of the points.
        Mean = "mean",
    }
}

impl PointsValue {
    /// True if it is made of an attribute.
    pub fn needs_attribute(self) -> bool {
        matches!(self, Self::Min | Self::Max | Self::Mean)
    }
}
