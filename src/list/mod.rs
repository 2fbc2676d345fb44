//! Lists of cells: cells with values, in a domain whose other cells all have one value.

mod error;
mod stored;

pub use error::ListError;
pub use stored::{ListBuilder, StoredList};
