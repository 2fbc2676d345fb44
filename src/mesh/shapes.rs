//! Meshes by formula, for examples and checks.

use std::f64::consts::TAU;

use crate::mesh::definition::Mesh;

impl Mesh {
    /// A box: twelve triangles.
    ///
    /// ```
    /// use orthant::mesh::Mesh;
    ///
    /// assert_eq!(Mesh::cuboid([0.0; 3], [1.0, 2.0, 3.0]).volume(), 6.0);
    /// ```
    ///
    /// # Panics
    /// If a side is empty or not finite.
    pub fn cuboid(low: [f64; 3], high: [f64; 3]) -> Self {
        let ends = [low, high];
        let corners = (0..8).map(|i| [0, 1, 2].map(|j| ends[i >> j & 1][j])).collect();
        // The faces across axis j: two triangles where the axis begins, two where it ends.
        let faces = (0..3).flat_map(|j| {
            let (s, u, v) = (1 << j, 1 << ((j + 1) % 3), 1 << ((j + 2) % 3));
            [[0, u + v, u], [0, v, u + v], [s, s + u, s + u + v], [s, s + u + v, s + v]]
        });
        Self::new(corners, faces.collect()).expect("the corners of a box are finite and differ")
    }

    /// A torus about the z axis: a circle of radius `minor`, at the distance `major` from it, in `sides` straight pieces
    /// each, first those around the axis.
    ///
    /// ```
    /// use orthant::mesh::Mesh;
    ///
    /// let torus = Mesh::torus(2.0, 0.5, [96, 48]);
    /// assert_eq!(torus.triangles().len(), 2 * 96 * 48);
    /// // A round one has the volume 2 pi^2 R r^2.
    /// assert!((torus.volume() / 9.8696 - 1.0).abs() < 0.01);
    /// ```
    ///
    /// # Panics
    /// If there are fewer than three pieces, or radii are not finite or 0.
    pub fn torus(major: f64, minor: f64, sides: [u32; 2]) -> Self {
        let [long, short] = sides;
        assert!(long >= 3 && short >= 3, "a circle has at least three sides");
        let corners = (0..long * short).map(|i| {
            let (around, across) =
                (TAU * f64::from(i / short) / f64::from(long), TAU * f64::from(i % short) / f64::from(short));
            let distance = major + minor * across.cos();
            [distance * around.cos(), distance * around.sin(), minor * across.sin()]
        });
        let at = |i: u32, j: u32| (i % long) * short + j % short;
        let faces = (0..long * short).flat_map(|n| {
            let (i, j) = (n / short, n % short);
            let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1)];
            [[a, b, c], [a, c, d]]
        });
        Self::new(corners.collect(), faces.collect()).expect("points of a torus are finite and differ")
    }
}
