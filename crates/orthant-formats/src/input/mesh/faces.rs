//! Vertices and faces as they are read.

use crate::input::error::{FilePlace, InputFault};
use orthant::mesh::Mesh;

/// What was read of a mesh so far. Every face is checked when it is read, while its place is known.
#[derive(Default)]
pub(super) struct MeshFaces {
    pub(super) vertices: Vec<[f64; 3]>,
    triangles: Vec<[u32; 3]>,
}

impl MeshFaces {
    /// A vertex.
    pub(super) fn vertex(&mut self, at: FilePlace, place: [f64; 3]) -> Result<(), InputFault> {
        match place.iter().find(|coordinate| !coordinate.is_finite()) {
            Some(coordinate) => Err(InputFault::field(at, "vertex", coordinate, "coordinates must be finite numbers")),
            None => {
                self.vertices.push(place);
                Ok(())
            }
        }
    }

    /// A corner of a face: the number of one of `vertices` vertices, counted from 0.
    pub(super) fn corner(at: FilePlace, number: i64, vertices: u64) -> Result<u32, InputFault> {
        let index = u32::try_from(number).ok().filter(|&index| u64::from(index) < vertices);
        index.ok_or_else(|| {
            let allowed = format!("there are {vertices} vertices, counted from 0");
            InputFault::field(at, "face with vertex", number, allowed)
        })
    }

    /// A face: a triangle, or a polygon, which becomes triangles about its first corner.
    pub(super) fn face(&mut self, at: FilePlace, corners: &[u32]) -> Result<(), InputFault> {
        let [first, rest @ ..] = corners else { return Err(few(at, 0)) };
        if rest.len() < 2 {
            return Err(few(at, corners.len()));
        }
        self.triangles.extend(rest.windows(2).map(|pair| [*first, pair[0], pair[1]]));
        Ok(())
    }

    /// The mesh.
    pub(super) fn mesh(self) -> Result<Mesh, InputFault> {
        Ok(Mesh::new(self.vertices, self.triangles)?)
    }
}

fn few(at: FilePlace, corners: usize) -> InputFault {
    InputFault::field(at, "face with corners", corners, "at least 3 are needed")
}
