//! Cells, regions and the lattices of levels: exact integer geometry in k dimensions.

mod array_scheme;
#[doc(hidden)]
pub mod boundary;
mod digits;
mod domain;
mod region;
mod rows;
mod sample_grid;
mod scheme;
mod slabs;
mod window;

pub use digits::DigitRule;
pub use domain::{Domain, DomainError, Sample};
pub use region::Region;
pub(crate) use region::volume;
#[doc(hidden)]
pub use rows::Rows;
pub use sample_grid::SampleGrid;
pub use scheme::{Level, Scheme};
pub(crate) use scheme::{refine, saturated};
#[doc(hidden)]
pub use slabs::Slabs;
pub use window::WindowError;
