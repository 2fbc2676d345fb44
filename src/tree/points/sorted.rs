//! Points in order, in memory or in a file.

use crate::tree::points::record::KeyedValue;
use crate::tree::points::runs::SortedRuns;

/// Points in order, with values where they are needed.
#[derive(Debug)]
pub(super) enum SortedPoints {
    Keys(Vec<u64>),
    Values(Vec<KeyedValue>),
    /// In a file.
    Runs(SortedRuns),
}

impl SortedPoints {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Keys(records) => records.len(),
            Self::Values(records) => records.len(),
            Self::Runs(runs) => runs.len(),
        }
    }

    /// Bytes in memory.
    pub(super) fn bytes(&self) -> u64 {
        match self {
            Self::Keys(records) => size_of_val(&records[..]) as u64,
            Self::Values(records) => size_of_val(&records[..]) as u64,
            Self::Runs(runs) => runs.bytes(),
        }
    }
}
