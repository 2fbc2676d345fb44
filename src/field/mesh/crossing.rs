//! Where a row of samples crosses triangles, exactly.
//!
//! A row goes along axis 0 through the samples of its cells. To cross an edge or a vertex, or to have a sample on a triangle, is a
//! tie. Ties are broken as if every sample lay a little higher: by e on axis 1, by e² on axis 2 and by e³ on axis 0, where e is
//! positive and smaller than all that is computed. Such a point is on no triangle and in line with no edge, so every crossing counts exactly
//! once. Of a box, samples on its lower faces are inside, and samples on its upper faces are not.

use crate::field::mesh::lattice::{LatticeTriangle, MeshLattice, span};

/// A triangle that rows may cross. Coordinates count from its first corner.
pub(super) struct CrossedTriangle {
    corner: [i64; 3],
    b: [i64; 3],
    c: [i64; 3],
    /// The normal on the axes 1 and 2; on axis 0 it is the area in the plane of those.
    normal: [i128; 3],
}

/// The samples from one coordinate to another, both included, as indices of cells below `size`; they may be empty.
pub(super) fn samples(lattice: &MeshLattice, [low, high]: [i64; 2], size: u32) -> (i64, i64) {
    let first = (low - lattice.offset + (1 << lattice.bits) - 1) >> lattice.bits;
    let last = (high - lattice.offset) >> lattice.bits;
    (first.max(0), last.min(i64::from(size) - 1))
}

/// The sides of the plane of axes 1 and 2 that `point` can be on of the line from `from` to `to`: twice the area, and its sign after ties.
#[inline]
fn side(from: [i64; 3], to: [i64; 3], point: [i64; 2]) -> (i128, i32) {
    let (y, z) = (to[1] - from[1], to[2] - from[2]);
    let area = wide(y, point[1] - from[2]) - wide(z, point[0] - from[1]);
    let sign = match area {
        0 if z != 0 => -z.signum() as i32,
        0 => y.signum() as i32,
        area => area.signum() as i32,
    };
    (area, sign)
}

/// A product that fits.
#[inline]
fn wide(a: i64, b: i64) -> i128 {
    i128::from(a) * i128::from(b)
}

impl CrossedTriangle {
    pub(super) fn new(corners: &LatticeTriangle) -> Self {
        let [corner, b, c] = *corners;
        let from_corner = |end: [i64; 3]| [0, 1, 2].map(|j| end[j] - corner[j]);
        let (b, c) = (from_corner(b), from_corner(c));
        let normal = [0, 1, 2].map(|j| {
            let (u, v) = ((j + 1) % 3, (j + 2) % 3);
            wide(b[u], c[v]) - wide(b[v], c[u])
        });
        Self { corner, b, c, normal }
    }

    /// The first cell of the row `[y, z]` whose sample lies beyond the triangle, 0 if all do; None if the row does not
    /// cross it, or no cell lies beyond.
    pub(super) fn first_beyond(&self, lattice: &MeshLattice, [y, z]: [i64; 2]) -> Option<u32> {
        let sample = |cell: i64| (cell << lattice.bits) + lattice.offset;
        let point = [sample(y) - self.corner[1], sample(z) - self.corner[2]];
        let (_, across) = side(self.b, self.c, point);
        let (of_b, along_b) = side(self.c, [0; 3], point);
        let (of_c, along_c) = side([0; 3], self.b, point);
        if across != along_b || across != along_c || across == 0 {
            return None;
        }
        // Where the row meets the plane, in cells from the first sample on: above / below.
        let towards = i128::from(across);
        let area = self.normal[0] * towards;
        let above = (of_b * i128::from(self.b[0]) + of_c * i128::from(self.c[0])) * towards
            + area * i128::from(self.corner[0] - lattice.offset);
        let below = area << lattice.bits;
        let cell = match above as f64 / below as f64 {
            // Far from any sample, as rounding goes: cells are fewer than 2^33.
            at if (at - at.round()).abs() > 1e-4 => at.floor() as i64 + 1,
            _ => {
                let cell = above.div_euclid(below) as i64;
                let tie = above.rem_euclid(below) == 0;
                cell + i64::from(!(tie && self.beyond_on_tie(towards)))
            }
        };
        let cell = cell.max(0);
        (cell < i64::from(lattice.size[0])).then_some(cell as u32)
    }

    /// True if a sample on the triangle counts as beyond it.
    fn beyond_on_tie(&self, towards: i128) -> bool {
        let [_, y, z] = self.normal;
        let sign = if y == 0 { z } else { y }.signum();
        sign == 0 || sign == towards
    }
}

/// The cells of axis 1 whose rows of the plane `z` can cross a triangle: all that do, and perhaps a few more.
pub(super) fn rows_near(lattice: &MeshLattice, corners: &LatticeTriangle, z: i64) -> (i64, i64) {
    let level = (z << lattice.bits) + lattice.offset;
    let (first, last) = samples(lattice, span(corners, 1), lattice.size[1]);
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for (i, from) in corners.iter().enumerate() {
        let to = corners[(i + 1) % 3];
        if (from[2] < level && to[2] < level) || (from[2] > level && to[2] > level) {
            continue;
        }
        let share =
            if to[2] == from[2] { [0.0, 1.0] } else { [(level - from[2]) as f64 / (to[2] - from[2]) as f64; 2] };
        for share in share {
            let at = from[1] as f64 + share * (to[1] - from[1]) as f64;
            (low, high) = (low.min(at), high.max(at));
        }
    }
    let cell = |at: f64| ((at - lattice.offset as f64) / f64::from(1 << lattice.bits)).floor() as i64;
    // Rounding is far below a cell.
    if low > high { (1, 0) } else { (first.max(cell(low) - 1), last.min(cell(high) + 1)) }
}
