//! What a cell is worth: fields over the cells of a domain.

mod array;
pub mod cloud;
mod custom;
mod data;
mod data_value;
mod definition;
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
mod start;
mod stored;
mod stored_array;
mod twin;

pub use array::ArrayField;
pub use custom::CellField;
pub use data::FieldData;
pub use data_value::DataValue;
pub use definition::{Carry, Evaluate, Field, Payload, Prove};
pub use digits::{DigitSet, cantor, carpet, diagonal, menger, simplex};
pub use error::FieldError;
pub use formula::{Formula, FormulaError};
pub use kind::FieldKind;
pub use labels::Labels;
pub use options::{Arithmetic, FieldOptions, Precision};
pub use own::{Job, Open, OwnField, OwnNumber};
pub use resident::DeviceArrayField;
pub use start::Defaults;
pub use stored_array::StoredArray;
pub(crate) use twin::USER_SOURCE;
#[cfg(feature = "cuda")]
pub(crate) use twin::{DeviceContent, ForestNeed};
pub use twin::{DeviceTwin, TwinRefusal};
