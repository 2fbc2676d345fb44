//! Points in two to six dimensions: what a scan or a table of coordinates holds.

mod attribute;
mod bounds;
mod definition;
mod error;
mod shapes;
mod value;

pub use attribute::PointAttribute;
pub use definition::Points;
pub use error::PointsError;
pub use value::PointsValue;
