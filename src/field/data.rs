//! Data of the user's own that a field is made of.

use std::sync::Arc;

use crate::field::stored_array::StoredArray;

/// Data that a field is made of, as [`FieldOptions`](crate::field::FieldOptions) and requests hold it.
///
/// Two are equal if they are the same data in memory.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum FieldData {
    /// The cells of an `array`.
    Array(Arc<StoredArray>),
}

impl FieldData {
    /// What the data is called: the name of its file.
    pub fn name(&self) -> &str {
        match self {
            Self::Array(array) => array.name(),
        }
    }

    /// The XXH3-64 of the data.
    pub fn hash(&self) -> u64 {
        match self {
            Self::Array(array) => array.hash(),
        }
    }
}

impl PartialEq for FieldData {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Array(one), Self::Array(two)) => Arc::ptr_eq(one, two),
        }
    }
}

impl Eq for FieldData {}
