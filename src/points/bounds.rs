//! The least and the greatest coordinate of points on each axis.

use crate::dimension::with_dimensions;
use crate::parallel;
use crate::points::axes::has_axes;
use crate::points::error::PointsError;

/// Numbers that a thread looks at, a multiple of every number of axes.
const TOGETHER: usize = 60 << 10;

/// `[least, greatest]` per axis of points of `axes` coordinates each, all of which are finite.
pub fn bounds(axes: usize, coordinates: &[f64]) -> Result<Vec<[f64; 2]>, PointsError> {
    let some = |i| {
        let some = &coordinates[parallel::piece(coordinates.len(), TOGETHER, i)];
        with_dimensions!(axes, K => of::<K>(some), else unreachable!("no points have {axes} axes"))
    };
    let found = parallel::map(coordinates.len().div_ceil(TOGETHER), &some);
    if found.iter().any(|(finite, _)| !finite) {
        let place = coordinates.iter().position(|coordinate| !coordinate.is_finite()).unwrap_or(0);
        return Err(PointsError::Coordinate { point: place / axes, axis: place % axes, value: coordinates[place] });
    }
    let join = |[low, high]: [f64; 2], [a, b]: [f64; 2]| [low.min(a), high.max(b)];
    let of_axis = |j: usize| found.iter().map(|(_, bounds)| bounds[j]).fold(NONE, join);
    Ok((0..axes).map(of_axis).collect())
}

const NONE: [f64; 2] = [f64::INFINITY, f64::NEG_INFINITY];

/// Whether all numbers are finite, and their bounds if they are.
fn of<const K: usize>(coordinates: &[f64]) -> (bool, [[f64; 2]; 6]) {
    // What is never run is not compiled.
    if const { !has_axes(K) } {
        unreachable!("no points have {K} axes");
    }
    let (mut low, mut high, mut all) = ([NONE[0]; K], [NONE[1]; K], [0.0; K]);
    for point in coordinates.as_chunks::<K>().0 {
        for j in 0..K {
            low[j] = if point[j] < low[j] { point[j] } else { low[j] };
            high[j] = if point[j] > high[j] { point[j] } else { high[j] };
            // 0, or NaN once a number is not finite.
            all[j] += point[j] * 0.0;
        }
    }
    let mut bounds = [NONE; 6];
    (0..K).for_each(|j| bounds[j] = [low[j], high[j]]);
    (all.iter().all(|&sum| sum == 0.0), bounds)
}
