//! What tests read off a result.

use orthant::Subdivision;
use orthant::result::DenseArray;

/// Mixed regions per level.
pub fn mixed<const K: usize>(subdivision: &Subdivision<K>) -> Vec<u64> {
    subdivision.levels().iter().map(|l| l.counts.subdivided + l.counts.leaves).collect()
}

/// The labels of every cell in storage order.
pub fn labels<const K: usize>(array: &DenseArray<K>) -> Vec<u64> {
    (0..array.cells().len()).map(|i| array.cells().label(i)).collect()
}
