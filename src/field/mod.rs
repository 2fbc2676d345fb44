//! What a cell is worth: fields over the cells of a domain.

mod array;
mod block_proofs;
mod blocks;
mod cell_index;
pub mod cloud;
mod custom;
mod data;
mod data_value;
mod definition;
mod device_points;
mod digits;
mod error;
mod escape;
pub mod formula;
pub mod julibrot;
pub mod kernel;
mod kind;
mod labels;
pub mod mandelbrot;
pub mod mandelbulb;
pub mod mesh;
pub mod mxm;
mod options;
mod own;
mod points;
mod resident;
mod resident_points;
mod start;
mod stored;
mod stored_array;
mod twin;
mod unsorted_points;

pub use array::ArrayField;
#[cfg(feature = "cuda")]
pub(crate) use cell_index::buckets;
pub use custom::CellField;
pub use data::FieldData;
pub use data_value::DataValue;
pub use definition::{Carry, Evaluate, Field, Payload, Prove};
#[cfg(feature = "cuda")]
pub(crate) use device_points::{DevicePoints, PointPlace};
pub use digits::{DigitSet, cantor, carpet, diagonal, menger, simplex};
pub use error::FieldError;
pub use formula::{Formula, FormulaError};
pub use kind::FieldKind;
pub use labels::Labels;
pub use options::{Arithmetic, FieldOptions, Precision};
pub use own::{Job, Open, OwnField, OwnNumber};
pub use resident::DeviceArrayField;
pub use resident_points::DevicePointsField;
pub use start::Defaults;
pub use stored_array::StoredArray;
pub(crate) use twin::USER_SOURCE;
#[cfg(feature = "cuda")]
pub(crate) use twin::{DeviceContent, ForestNeed};
pub use twin::{DeviceTwin, TwinRefusal};
