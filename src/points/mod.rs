//! Points in two to six dimensions: what a scan or a table of coordinates holds.

mod attribute;
mod axes;
mod batches;
mod bounds;
mod cell_kind;
mod definition;
mod error;
mod extent;
mod hash;
mod shapes;
mod value;

pub use attribute::PointAttribute;
pub use axes::has_axes;
pub use batches::{OnBatch, PointBatches};
#[doc(hidden)]
pub use bounds::bounds;
pub use definition::Points;
pub use error::PointsError;
pub use extent::PointsExtent;
#[doc(hidden)]
pub use hash::PointsHash;
pub use value::PointsValue;
