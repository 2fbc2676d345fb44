//! Whether a triangle meets a box, exactly: both with their boundaries, so that to touch is to meet.
//!
//! Two convex bodies are apart if and only if an axis separates them, and of a triangle and a box there are thirteen to try: those
//! of the box, the normal of the triangle, and the nine that are normal to an edge of each. Of triangles without an area the last nine
//! are enough.

use crate::field::mesh::lattice::{LatticeTriangle, span};

/// A triangle that boxes are compared with. Coordinates count from its first corner.
pub(super) struct MetTriangle {
    corner: [i64; 3],
    spans: [[i64; 2]; 3],
    normal: [i128; 3],
    across: [CrossAxis; 9],
}

/// An axis that is normal to an edge of the triangle and to one of the box, and where the triangle lies along it.
struct CrossAxis {
    /// The other axes of the box, on which it has a part each.
    axes: [usize; 2],
    parts: [i64; 2],
    low: i128,
    high: i128,
}

impl CrossAxis {
    /// Of the edge of `corners` that begins at a number.
    fn new(corners: &LatticeTriangle, edge: usize, axis: usize) -> Self {
        let [p, q, other] = [0, 1, 2].map(|i| corners[(edge + i) % 3]);
        let axes = [(axis + 1) % 3, (axis + 2) % 3];
        let [u, v] = axes;
        let parts = [q[v] - p[v], p[u] - q[u]];
        let at =
            |point: [i64; 3]| i128::from(parts[0]) * i128::from(point[u]) + i128::from(parts[1]) * i128::from(point[v]);
        let (on, off) = (at(p), at(other));
        Self { axes, parts, low: on.min(off), high: on.max(off) }
    }

    /// True if it does not separate the triangle from the box.
    #[inline]
    fn meets(&self, bounds: &[[i64; 2]; 3]) -> bool {
        let (mut low, mut high) = (0, 0);
        for (part, axis) in self.parts.into_iter().zip(self.axes) {
            let ends = bounds[axis].map(|end| i128::from(part) * i128::from(end));
            low += ends[0].min(ends[1]);
            high += ends[0].max(ends[1]);
        }
        low <= self.high && self.low <= high
    }
}

impl MetTriangle {
    pub(super) fn new(corners: &LatticeTriangle) -> Self {
        let corner = corners[0];
        let local = corners.map(|point| [0, 1, 2].map(|j| point[j] - corner[j]));
        let normal = [0, 1, 2].map(|j| {
            let (u, v) = ((j + 1) % 3, (j + 2) % 3);
            let [_, b, c] = local;
            i128::from(b[u]) * i128::from(c[v]) - i128::from(b[v]) * i128::from(c[u])
        });
        Self {
            corner,
            spans: [0, 1, 2].map(|axis| span(corners, axis)),
            normal,
            across: std::array::from_fn(|i| CrossAxis::new(&local, i / 3, i % 3)),
        }
    }

    /// True if it meets a box, `[low, high]` on each axis.
    pub(super) fn meets(&self, bounds: &[[i64; 2]; 3]) -> bool {
        if (0..3).any(|j| self.spans[j][0] > bounds[j][1] || self.spans[j][1] < bounds[j][0]) {
            return false;
        }
        let bounds: [[i64; 2]; 3] = std::array::from_fn(|j| bounds[j].map(|end| end - self.corner[j]));
        let (mut low, mut high) = (0, 0);
        for (part, ends) in self.normal.into_iter().zip(bounds) {
            let ends = ends.map(|end| part * i128::from(end));
            low += ends[0].min(ends[1]);
            high += ends[0].max(ends[1]);
        }
        low <= 0 && 0 <= high && self.across.iter().all(|axis| axis.meets(&bounds))
    }
}
