//! What tests read off a result.

use orthant::field::Field;
use orthant::subdivision::Subdivision;

/// Mixed regions per level.
pub fn mixed<const K: usize>(subdivision: &Subdivision<K>) -> Vec<u64> {
    subdivision.levels().iter().map(|l| l.counts.subdivided + l.counts.leaves).collect()
}

/// The labels of every cell in storage order.
pub fn labels<const K: usize>(field: &Field<K>) -> Vec<u32> {
    (0..field.cells().len()).map(|i| field.cells().label(i)).collect()
}
