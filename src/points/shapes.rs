//! Points to try things with.

use crate::points::definition::Points;

impl Points {
    /// `count` points on a sphere about the origin, spread evenly by the golden angle. All coordinates lie within its radius.
    ///
    /// ```
    /// use orthant::points::Points;
    ///
    /// let sphere = Points::sphere(2.0, 1000);
    /// let [x, y, z] = sphere.coordinates()[..3] else { unreachable!() };
    /// assert!(((x * x + y * y + z * z).sqrt() - 2.0).abs() < 1e-12);
    /// ```
    ///
    /// # Panics
    /// If `count` is 0 or the radius is not finite.
    pub fn sphere(radius: f64, count: usize) -> Self {
        let turn = std::f64::consts::PI * (3.0 - 5.0f64.sqrt());
        let point = |i: usize| {
            let z = 1.0 - (2 * i + 1) as f64 / count as f64;
            let (sine, cosine) = (turn * i as f64).sin_cos();
            let flat = (1.0 - z * z).max(0.0).sqrt();
            [radius * flat * cosine, radius * flat * sine, radius * z]
        };
        Self::new(3, (0..count).flat_map(point).collect()).expect("a sphere has points, and a finite radius")
    }
}
