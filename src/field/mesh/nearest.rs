//! How far a point lies from a triangle, in floating point.
//!
//! Vertices are those of the lattice, so that distances are of the same surface as the parity that gives them a sign. Twin of
//! `kernels/fields/mesh_distance.cuh`: both have the same products and sums in the same order, each rounded once, so that distances are
//! equal to the bit. A distance is an unbroken function of the point, whichever side of an edge rounding puts the point on.

use crate::field::mesh::lattice::{LatticeTriangle, MeshLattice};
use crate::geometry::Domain;

/// A triangle as distances need it. Sixteen numbers follow each other, as kernels read them: the first corner in units of the lattice,
/// then, in edges of cells, the edges to the other two corners and their cross product, and then one over the squares of the lengths of
/// these two edges, of the third and of the cross product; 0 where a length is 0.
pub(super) type NearTriangle = [f64; 16];

/// The longest edge of a cell is the unit of distances. Cells need not be cubes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Edges {
    /// The edges of a cell, at most 1.
    pub(super) side: [f64; 3],
    /// A unit of the lattice.
    pub(super) unit: [f64; 3],
    /// The longest edge of a cell in units of the mesh.
    pub(super) longest: f64,
}

impl Edges {
    pub(super) fn of(lattice: &MeshLattice, domain: &Domain<3>) -> Self {
        let pitch = domain.pitch();
        let longest = pitch.into_iter().fold(0.0, f64::max);
        let side = pitch.map(|pitch| pitch / longest);
        let unit = side.map(|side| side / f64::from(1 << lattice.bits));
        Self { side, unit, longest }
    }
}

#[inline]
fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[inline]
fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

#[inline]
fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// The square of the distance from an edge that begins at the origin.
#[inline]
fn from_edge(point: [f64; 3], edge: [f64; 3], inverse: f64) -> f64 {
    let along = dot(point, edge) * inverse;
    let along = if along < 0.0 { 0.0 } else { along };
    let along = if along > 1.0 { 1.0 } else { along };
    let beside = minus(point, [along * edge[0], along * edge[1], along * edge[2]]);
    dot(beside, beside)
}

/// A triangle of the lattice as distances need it.
pub(super) fn near_triangle(corners: &LatticeTriangle, unit: [f64; 3]) -> NearTriangle {
    let [a, b, c] = *corners;
    let edge = |end: [i64; 3]| [0, 1, 2].map(|j| (end[j] - a[j]) as f64 * unit[j]);
    let (b, c) = (edge(b), edge(c));
    let normal = cross(b, c);
    let third = minus(c, b);
    let inverse = |vector: [f64; 3]| {
        let inverse = 1.0 / dot(vector, vector);
        if inverse.is_finite() { inverse } else { 0.0 }
    };
    let mut all = [0.0; 16];
    for (place, vector) in [a.map(|at| at as f64), b, c, normal].into_iter().enumerate() {
        all[3 * place..][..3].copy_from_slice(&vector);
    }
    all[12..].copy_from_slice(&[b, c, third, normal].map(inverse));
    all
}

/// The square of the distance of a point, which is given in units of the lattice, from a triangle.
#[inline]
pub(super) fn squared(triangle: &NearTriangle, point: [f64; 3], unit: [f64; 3]) -> f64 {
    let [ax, ay, az, bx, by, bz, cx, cy, cz, nx, ny, nz, of_b, of_c, of_third, of_normal] = *triangle;
    let (b, c, normal) = ([bx, by, bz], [cx, cy, cz], [nx, ny, nz]);
    let third = minus(c, b);
    let p = minus(point, [ax, ay, az]);
    let p = [p[0] * unit[0], p[1] * unit[1], p[2] * unit[2]];
    let q = minus(p, b);
    let within =
        dot(cross(b, p), normal) >= 0.0 && dot(cross(third, q), normal) >= 0.0 && dot(cross(p, c), normal) >= 0.0;
    if within && of_normal > 0.0 {
        let height = dot(p, normal);
        return height * height * of_normal;
    }
    let mut least = from_edge(p, b, of_b);
    for other in [from_edge(p, c, of_c), from_edge(q, third, of_third)] {
        if other < least {
            least = other;
        }
    }
    least
}
