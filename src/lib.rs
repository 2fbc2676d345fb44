//! placeholder
pub mod curve;
pub mod domain;
pub mod plan;
pub mod region;
pub mod registry;
pub mod workload;

/// The largest number of dimensions.
pub const MAX_DIM: usize = 8;
