//! How many coordinates a point can have.

/// True if points can have so many coordinates.
///
/// ```
/// use orthant::points::has_axes;
///
/// assert!(!has_axes(1) && has_axes(2) && has_axes(6) && !has_axes(7));
/// ```
pub const fn has_axes(axes: usize) -> bool {
    2 <= axes && axes <= 6
}
