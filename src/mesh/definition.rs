//! A surface of triangles: vertices, and three of them for each triangle.
//!
//! A mesh that exists is checked: coordinates are finite, corners exist and differ. Vertices with equal coordinates are one,
//! since formats such as STL repeat a vertex in every triangle, and an edge has to be known by its ends.

use std::collections::HashMap;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3;

use crate::mesh::error::MeshError;
use crate::per_axis;

/// Triangles in three dimensions.
///
/// ```
/// use orthant::mesh::{Mesh, MeshError};
///
/// // A tetrahedron. Seen from outside, the corners of each triangle go round counter-clockwise.
/// let corners = vec![[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
/// let faces = vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
/// let mesh = Mesh::new(corners.clone(), faces.clone())?;
/// assert_eq!((mesh.vertices().len(), mesh.triangles().len()), (4, 4));
/// assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
/// // Without the last face it has a hole.
/// let open = Mesh::new(corners, faces[..3].to_vec())?;
/// assert!(matches!(open.closed(), Err(MeshError::Open { edges: 3, .. })));
/// # Ok::<(), MeshError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Mesh {
    name: Option<Arc<str>>,
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    dropped: u64,
    hash: u64,
}

impl Mesh {
    /// Checks triangles whose corners are indices into `vertices`. Equal vertices become one, those that no triangle has
    /// are left out, and triangles with two equal corners are [dropped](Self::dropped).
    ///
    /// # Errors
    /// [`MeshError`] names the vertex or the face, counted from 0, and what is wrong with it.
    pub fn new(vertices: Vec<[f64; 3]>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        if u32::try_from(vertices.len()).is_err() {
            return Err(MeshError::TooMany { vertices: vertices.len() });
        }
        for (vertex, coordinates) in vertices.iter().enumerate() {
            if let Some((&value, axis)) = coordinates.iter().zip(['x', 'y', 'z']).find(|(value, _)| !value.is_finite())
            {
                return Err(MeshError::Coordinate { vertex, axis, value });
            }
        }
        for (face, corners) in triangles.iter().enumerate() {
            if let Some(&index) = corners.iter().find(|&&index| index as usize >= vertices.len()) {
                return Err(MeshError::Index { face, index, vertices: vertices.len() });
            }
        }
        Ok(Welded::of(&vertices, triangles.iter().copied())?.mesh())
    }

    /// Triangles as formats without indices have them: the corners of one after the other.
    ///
    /// ```
    /// use orthant::mesh::Mesh;
    ///
    /// let mesh = Mesh::of_corners(vec![[0.0; 3], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])?;
    /// assert_eq!(mesh.triangles(), [[0, 1, 2]]);
    /// # Ok::<(), orthant::mesh::MeshError>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_corners(corners: Vec<[f64; 3]>) -> Result<Self, MeshError> {
        let triangles = 0..u32::try_from(corners.len()).unwrap_or(u32::MAX) / 3;
        Self::new(corners, triangles.map(|face| [3 * face, 3 * face + 1, 3 * face + 2]).collect())
    }

    /// The same mesh under a name, such as that of its file.
    #[must_use]
    pub fn named(self, name: impl Into<Arc<str>>) -> Self {
        Self { name: Some(name.into()), ..self }
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The points.
    pub fn vertices(&self) -> &[[f64; 3]] {
        &self.vertices
    }

    /// The corners of each triangle, as indices of vertices.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Triangles that were left out, since two of their corners are equal.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// `[lowest, highest]` coordinate on each axis.
    pub fn bounds(&self) -> [[f64; 2]; 3] {
        per_axis::each(|j| {
            let all = self.vertices.iter().map(|vertex| vertex[j]);
            [all.clone().fold(f64::INFINITY, f64::min), all.fold(f64::NEG_INFINITY, f64::max)]
        })
    }

    /// The volume inside, positive if triangles go round counter-clockwise seen from outside. It means something of a
    /// closed mesh that does not cross itself.
    pub fn volume(&self) -> f64 {
        let middle = self.bounds().map(|[low, high]| low + (high - low) / 2.0);
        let parts = self.triangles.iter().map(|triangle| {
            let [a, b, c] = triangle.map(|index| {
                let vertex = self.vertices[index as usize];
                [0, 1, 2].map(|j| vertex[j] - middle[j])
            });
            let normal = [0, 1, 2].map(|j| {
                let (u, v) = ((j + 1) % 3, (j + 2) % 3);
                b[u] * c[v] - b[v] * c[u]
            });
            a[0] * normal[0] + a[1] * normal[1] + a[2] * normal[2]
        });
        parts.sum::<f64>() / 6.0
    }

    /// The XXH3-64 of vertices and triangles, as `xxh3:` and sixteen hexadecimal digits. The name is no part of it.
    pub fn hash(&self) -> String {
        format!("xxh3:{:016x}", self.hash)
    }
}

/// Meshes are equal if their vertices and triangles are; a hash compares them.
impl PartialEq for Mesh {
    fn eq(&self, other: &Self) -> bool {
        let outline = |mesh: &Self| (mesh.hash, mesh.vertices.len(), mesh.triangles.len());
        outline(self) == outline(other)
    }
}

impl Eq for Mesh {}

/// Vertices of which no two are equal, in the order in which triangles need them.
struct Welded {
    vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
    dropped: u64,
}

impl Welded {
    fn of(all: &[[f64; 3]], faces: impl ExactSizeIterator<Item = [u32; 3]>) -> Result<Self, MeshError> {
        let given = faces.len() as u64;
        if given == 0 {
            return Err(MeshError::NoFaces);
        }
        let (mut vertices, mut triangles) = (Vec::new(), Vec::with_capacity(faces.len()));
        let mut known = HashMap::with_capacity(all.len() / 4);
        for face in faces {
            let corners = face.map(|index| {
                // -0 is 0.
                let place = all[index as usize].map(|coordinate| coordinate + 0.0);
                *known.entry(place.map(f64::to_bits)).or_insert_with(|| {
                    vertices.push(place);
                    vertices.len() as u32 - 1
                })
            });
            let [a, b, c] = corners;
            if a != b && b != c && c != a {
                triangles.push(corners);
            }
        }
        if triangles.is_empty() {
            return Err(MeshError::NoArea { faces: given });
        }
        let dropped = given - triangles.len() as u64;
        Ok(Self { vertices, triangles, dropped })
    }

    fn mesh(self) -> Mesh {
        let Self { vertices, triangles, dropped } = self;
        let mut hash = Xxh3::new();
        vertices.iter().flatten().for_each(|coordinate| hash.update(&coordinate.to_le_bytes()));
        triangles.iter().flatten().for_each(|index| hash.update(&index.to_le_bytes()));
        Mesh { name: None, vertices, triangles, dropped, hash: hash.digest() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_vertices_are_one_and_bad_ones_are_named() {
        let corners = vec![[0.0, -0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0; 3], [5.0; 3]];
        let mesh = Mesh::new(corners.clone(), vec![[0, 1, 2], [3, 2, 1], [0, 3, 1]]).unwrap();
        assert_eq!((mesh.vertices().len(), mesh.triangles(), mesh.dropped()), (3, &[[0, 1, 2], [0, 2, 1]][..], 1));
        let wrong = |corners: &[[f64; 3]], faces: &[[u32; 3]]| Mesh::new(corners.to_vec(), faces.to_vec()).unwrap_err();
        assert_eq!(wrong(&corners, &[]), MeshError::NoFaces);
        assert_eq!(wrong(&corners, &[[0, 3, 1], [1, 1, 1]]), MeshError::NoArea { faces: 2 });
        assert_eq!(wrong(&corners, &[[0, 1, 2], [0, 1, 5]]), MeshError::Index { face: 1, index: 5, vertices: 5 });
        let infinite = [[0.0; 3], [0.0, 1.0, f64::NEG_INFINITY]];
        assert_eq!(wrong(&infinite, &[]).to_string(), "vertex 1: its z is -inf; coordinates must be finite numbers");
    }

    #[test]
    fn hashes_are_of_the_content() {
        let mesh = Mesh::cuboid([0.0; 3], [1.0; 3]);
        assert_eq!(mesh.clone().named("box"), mesh);
        assert_eq!(mesh.hash().len(), 21);
        assert_ne!(Mesh::cuboid([0.0; 3], [1.0, 1.0, 2.0]), mesh);
    }
}
