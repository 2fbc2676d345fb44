//! What a cell is worth: fields over the cells of a domain.

mod array;
mod custom;
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
pub mod mxm;
mod options;
mod own;
mod points;
mod start;
mod twin;

pub use array::ArrayField;
pub use custom::CellField;
pub use definition::{Carry, Evaluate, Field, Payload, Prove};
pub use digits::{DigitSet, cantor, carpet, diagonal, menger, simplex};
pub use error::FieldError;
pub use formula::{Formula, FormulaError};
pub use kind::FieldKind;
pub use labels::Labels;
pub use options::{Arithmetic, FieldOptions, Precision};
pub use own::{Job, Open, OwnField, OwnNumber};
pub use start::Defaults;
pub(crate) use twin::USER_SOURCE;
pub use twin::{DeviceTwin, TwinRefusal};
