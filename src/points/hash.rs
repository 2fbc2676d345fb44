//! The hash of points, however many come at a time.

use xxhash_rust::xxh3::Xxh3;

use crate::cell::CellType;

/// What was hashed so far: coordinates, and values beside them.
#[doc(hidden)]
#[expect(missing_debug_implementations, reason = "XXH3's state has none")]
pub struct PointsHash {
    coordinates: Xxh3,
    values: Xxh3,
}

impl PointsHash {
    #[doc(hidden)]
    pub fn new(axes: usize) -> Self {
        let mut coordinates = Xxh3::new();
        coordinates.update(&(axes as u64).to_le_bytes());
        Self { coordinates, values: Xxh3::new() }
    }

    /// The next points, and the values that they have.
    #[doc(hidden)]
    pub fn add(&mut self, coordinates: &[f64], values: &[f64]) {
        if cfg!(target_endian = "little") {
            self.coordinates.update(bytemuck::cast_slice(coordinates));
            self.values.update(bytemuck::cast_slice(values));
        } else {
            coordinates.iter().for_each(|coordinate| self.coordinates.update(&coordinate.to_le_bytes()));
            values.iter().for_each(|value| self.values.update(&value.to_le_bytes()));
        }
    }

    /// As `xxh3:` and sixteen hexadecimal digits.
    #[doc(hidden)]
    pub fn text(mut self, kind: Option<CellType>) -> String {
        if let Some(kind) = kind {
            self.coordinates.update(kind.name().as_bytes());
            self.coordinates.update(&self.values.digest().to_le_bytes());
        }
        format!("xxh3:{:016x}", self.coordinates.digest())
    }
}
