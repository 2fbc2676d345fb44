//! Curves as orders of tables: what a run's tables hold, and how near to each other an order keeps what is near.

mod divided_regions;
mod locality;

pub use divided_regions::DividedRegions;
pub use locality::Locality;
