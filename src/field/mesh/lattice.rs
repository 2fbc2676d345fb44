//! Vertices in whole numbers: a lattice so fine against the cells that nobody sees it, and so coarse that products are exact.
//!
//! One cell is 2^bits units on every axis, where bits is 20, or less if there are very many cells. A vertex moves by at most
//! half a unit, 2^-21 of a cell. Corners and centres of cells are whole numbers. Coordinates have less than 2^40 units, so
//! that differences fit 41 bits, products of two of them and their sums 84, and products of three 126: an `i128` holds all that
//! is computed from here on, and nothing is rounded.

use crate::field::error::FieldError;
use crate::geometry::Domain;
use crate::mesh::Mesh;

/// Bits of a coordinate, without its sign.
const BITS: u32 = 40;

/// Bits of a cell: the most, and the fewest that are taken.
const FINEST: u32 = 20;
const COARSEST: u32 = 4;

/// The corners of a triangle in units of the lattice.
pub(super) type LatticeTriangle = [[i64; 3]; 3];

/// A mesh in units of a lattice.
pub(super) struct MeshLattice {
    /// Units of a cell, as a power of two.
    pub(super) bits: u32,
    /// Units from the corner of a cell to its sample.
    pub(super) offset: i64,
    pub(super) size: [u32; 3],
    vertices: Vec<[i64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl MeshLattice {
    /// The vertices of a mesh on the lattice of a domain.
    pub(super) fn new(mesh: &Mesh, domain: &Domain<3>) -> Result<Self, FieldError> {
        let (size, window, pitch) = (domain.size(), domain.window(), domain.pitch());
        let cells = |vertex: &[f64; 3]| [0, 1, 2].map(|j| (vertex[j] - window[j][0]) / pitch[j]);
        let all = mesh.vertices().iter().flat_map(cells).map(f64::abs);
        let span = size.map(f64::from).into_iter().chain(all).fold(0.0, f64::max);
        let fits = |bits: &u32| span * f64::from(1 << bits) < f64::from(BITS).exp2();
        let Some(bits) = (COARSEST..=FINEST).rev().find(fits) else {
            return Err(FieldError::MeshSpan { cells: span, most: f64::from(BITS - COARSEST).exp2() });
        };
        let unit = f64::from(1 << bits);
        let vertices =
            mesh.vertices().iter().map(|vertex| cells(vertex).map(|at| (at * unit).round() as i64)).collect();
        let offset = (domain.sample().offset() * unit) as i64;
        Ok(Self { bits, offset, size, vertices, triangles: mesh.triangles().to_vec() })
    }

    pub(super) fn triangles(&self) -> usize {
        self.triangles.len()
    }

    /// The corners of a triangle.
    #[inline]
    pub(super) fn corners(&self, triangle: usize) -> LatticeTriangle {
        self.triangles[triangle].map(|index| self.vertices[index as usize])
    }
}

/// The lowest and the highest of the corners on an axis.
#[inline]
pub(super) fn span(corners: &LatticeTriangle, axis: usize) -> [i64; 2] {
    let [a, b, c] = corners.map(|corner| corner[axis]);
    [a.min(b).min(c), a.max(b).max(c)]
}
