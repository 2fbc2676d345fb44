//! Where a surface is open.
//!
//! A point is inside if a line from it crosses the surface an odd number of times. That does not depend on the line exactly
//! if every edge has an even number of triangles. Which way round triangles go does not matter, so meshes whose triangles
//! are turned have an inside, too.

use crate::mesh::definition::Mesh;
use crate::mesh::error::MeshError;

/// How the triangles of a mesh meet.
///
/// ```
/// use orthant::mesh::Mesh;
///
/// let edges = Mesh::cuboid([0.0; 3], [1.0; 3]).edges();
/// assert_eq!((edges.open, edges.turned), (0, 0));
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct MeshEdges {
    /// Edges with an odd number of triangles: where the surface ends.
    pub open: u64,
    /// The ends of the first of them.
    pub first: Option<[[f64; 3]; 2]>,
    /// Other edges that are not met as often from either side: some of their triangles are turned.
    pub turned: u64,
}

impl Mesh {
    /// Looks at every edge.
    pub fn edges(&self) -> MeshEdges {
        // The lower end, the upper end, and whether the triangle runs from the upper to the lower.
        let mut sides: Vec<[u32; 3]> = Vec::with_capacity(3 * self.triangles().len());
        for &[a, b, c] in self.triangles() {
            sides.extend([[a, b], [b, c], [c, a]].map(|[p, q]| [p.min(q), p.max(q), u32::from(p > q)]));
        }
        sides.sort_unstable();
        let mut found = MeshEdges { open: 0, first: None, turned: 0 };
        for edge in sides.chunk_by(|a, b| a[..2] == b[..2]) {
            let back = edge.iter().filter(|side| side[2] == 1).count();
            if edge.len() % 2 == 1 {
                found.open += 1;
                found.first.get_or_insert_with(|| [edge[0][0], edge[0][1]].map(|end| self.vertices()[end as usize]));
            } else if 2 * back != edge.len() {
                found.turned += 1;
            }
        }
        found
    }

    /// Checks that the surface has an inside.
    ///
    /// # Errors
    /// [`MeshError::Open`] says where it has none.
    pub fn closed(&self) -> Result<(), MeshError> {
        match self.edges() {
            MeshEdges { open, first: Some([from, to]), .. } => Err(MeshError::Open { edges: open, from, to }),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_and_turned_triangles_are_found() {
        let whole = Mesh::torus(2.0, 0.5, [12, 8]);
        assert_eq!(whole.edges(), MeshEdges { open: 0, first: None, turned: 0 });
        let mut faces = whole.triangles().to_vec();
        faces[7].swap(0, 1);
        let turned = Mesh::new(whole.vertices().to_vec(), faces.clone()).unwrap();
        assert_eq!((turned.edges().open, turned.edges().turned, turned.closed()), (0, 3, Ok(())));
        faces.remove(7);
        let open = Mesh::new(whole.vertices().to_vec(), faces).unwrap();
        assert_eq!((open.edges().open, open.edges().turned), (3, 0));
        let text = open.closed().unwrap_err().to_string();
        assert!(text.starts_with("open: 3 edges have an odd number of faces, the first runs from ("), "{text}");
    }
}
