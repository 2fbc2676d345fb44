//! Sample points of cells, as kernels are told of them.

use crate::abi::{device_struct, padded};
use crate::geometry::Domain;

device_struct! {
    /// Samples of cells: x_j = (c_j + offset)·pitch_j + low_j, and the dwell cap.
    pub(crate) struct PointArgs {
        low: [f64; 8],
        pitch: [f64; 8],
        offset: f64,
        dwell: u32,
        padding: u32,
    }
}

impl PointArgs {
    /// Those of a domain.
    pub(crate) fn new<const K: usize>(domain: &Domain<K>, dwell: u32) -> Self {
        Self {
            low: padded(domain.window().map(|[low, _]| low)),
            pitch: padded(domain.pitch()),
            offset: domain.sample().offset(),
            dwell,
            padding: 0,
        }
    }
}
