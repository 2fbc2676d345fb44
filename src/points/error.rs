//! What is wrong with points.

use crate::points::value::PointsValue;

/// Why numbers are no points. Points and axes are counted from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PointsError {
    /// No point at all.
    #[error("no points; at least one is needed")]
    None,
    /// A number of axes that points cannot have.
    #[error("points of {axes} coordinates; between 2 and 6 can be")]
    Axes {
        /// Coordinates of each.
        axes: usize,
    },
    /// Numbers that are no whole number of points.
    #[error("{numbers} numbers are no points of {axes} coordinates each; a multiple of {axes} is needed")]
    Ragged {
        /// How many.
        numbers: usize,
        /// Coordinates of each point.
        axes: usize,
    },
    /// NaN or infinite.
    #[error("point {point}: its coordinate on axis {axis} is {value}; coordinates must be finite numbers")]
    Coordinate {
        /// The point.
        point: usize,
        /// The axis.
        axis: usize,
        /// The coordinate.
        value: f64,
    },
    /// More or fewer values than points.
    #[error("attribute '{name}': {values} values for {points} points; one for each is needed")]
    Values {
        /// The attribute.
        name: String,
        /// Its values.
        values: usize,
        /// Points.
        points: usize,
    },
    /// A value that is NaN or infinite.
    #[error("attribute '{name}' of point {point} is {value}; values must be finite numbers")]
    Value {
        /// The attribute.
        name: String,
        /// The point.
        point: usize,
        /// The value.
        value: f64,
    },
    /// Points without extent, over which no window can be laid.
    #[error("all points have the same coordinates; a window is needed, as in --domain {example}")]
    Same {
        /// A window about them.
        example: String,
    },
    /// A value of an attribute, of points without one.
    #[error(
        "the value '{value}' is that of an attribute, and the points have none; name one, as in --attribute intensity"
    )]
    NoAttribute {
        /// The value.
        value: PointsValue,
    },
    /// Points of another number of axes than a plan has.
    #[error("points of {axes} coordinates, and {k} dimensions")]
    Dimensions {
        /// Coordinates of each point.
        axes: usize,
        /// Those of the plan.
        k: usize,
    },
    /// A plan of more cells than points can be sorted by.
    #[error("a cell would need more than 64 bits, for the code of its region and its place there")]
    Bits,
    /// More points than a GPU sorts.
    #[error("{points} points; a GPU sorts up to {most}")]
    Many {
        /// How many points.
        points: u64,
        /// Those that it sorts.
        most: u64,
    },
    /// A window with no point in it.
    #[error("none of {points} points lies in the window {window}")]
    Outside {
        /// How many points.
        points: u64,
        /// The window, as it is typed.
        window: String,
    },
}
