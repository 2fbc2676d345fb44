//! What is wrong with a mesh.

/// Why triangles are no mesh, or not one with an inside. Vertices and faces are counted from 0.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MeshError {
    /// No triangles at all.
    #[error("no faces; at least one is needed")]
    NoFaces,
    /// Triangles, none of which has three different corners.
    #[error("none of {faces} faces has three different corners; at least one is needed")]
    NoArea {
        /// How many.
        faces: u64,
    },
    /// More than an index can count.
    #[error("{vertices} vertices; at most 2^32 - 1 can be")]
    TooMany {
        /// How many.
        vertices: usize,
    },
    /// NaN or infinite.
    #[error("vertex {vertex}: its {axis} is {value}; coordinates must be finite numbers")]
    Coordinate {
        /// The vertex.
        vertex: usize,
        /// x, y or z.
        axis: char,
        /// The coordinate.
        value: f64,
    },
    /// A corner that is no vertex.
    #[error("face {face}: vertex {index} does not exist; there are {vertices}, counted from 0")]
    Index {
        /// The face.
        face: usize,
        /// Its corner.
        index: u32,
        /// Vertices that there are.
        vertices: usize,
    },
    /// Edges that an odd number of faces meets, so that there is no inside.
    #[error(
        "open: {} an odd number of faces, {} from {} to {}; the values 'inside' and 'distance' need a closed surface, and \
         'surface' takes this one",
        if *edges == 1 { "1 edge has".to_owned() } else { format!("{edges} edges have") },
        if *edges == 1 { "it runs" } else { "the first runs" },
        point(from),
        point(to)
    )]
    Open {
        /// How many edges.
        edges: u64,
        /// Where one of them begins.
        from: [f64; 3],
        /// Where it ends.
        to: [f64; 3],
    },
}

/// A point in a message.
fn point([x, y, z]: &[f64; 3]) -> String {
    format!("({x}, {y}, {z})")
}
