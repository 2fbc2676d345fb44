//! What was read of points.

use serde::{Deserialize, Serialize};

/// Points that were read.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PointsRead {
    /// All of them.
    pub read: u64,
    /// Those in the window; the others are in no cell.
    pub inside: u64,
    /// Wall time of reading their file.
    pub reading_seconds: f64,
    /// Wall time of sorting those in the window, which is part of the time of the run.
    pub sorting_seconds: f64,
}
