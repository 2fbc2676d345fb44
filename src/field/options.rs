//! What a field is computed with.

use std::sync::Arc;

use crate::field::data::FieldData;
use crate::field::data_value::DataValue;
use crate::registry::registry;

registry! {
    /// The type of the iterated numbers.
    pub enum Precision("precision") {
        /// 32 bits.
        F32 = "f32",
        /// 64 bits.
        F64 = "f64",
    }
}

registry! {
    /// How a product and a sum are rounded.
    pub enum Arithmetic("arithmetic") {
        /// Once, together: fused multiply-add.
        Fused = "fused",
        /// Twice: each product and each sum, as codes compiled without contraction do. For comparisons.
        Plain = "plain",
    }
}

/// What a dwell field is computed with; digit sets ignore it.
///
/// ```
/// use orthant::field::{FieldOptions, Precision};
///
/// let options = FieldOptions::default().dwell(64).precision(Precision::F64);
/// assert_eq!((options.dwell, options.source), (64, None));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FieldOptions {
    /// D, the largest number of iterations.
    pub dwell: u32,
    /// The type of the iterated numbers.
    pub precision: Precision,
    /// Fused or separately rounded products and sums.
    pub arithmetic: Arithmetic,
    /// The CUDA source of a `kernel` field, or the text of a `formula`.
    pub source: Option<Arc<str>>,
    /// What a `mesh`, `points` or an `array` is made of.
    pub data: Option<FieldData>,
    /// What a cell of a mesh or of points is worth; None is the field's usual one.
    pub value: Option<DataValue>,
    /// The width of the band in which a mesh has distances, in the longest edges of cells, at least 1; None is 3.
    pub band: Option<u32>,
    /// Bytes that a field may keep of its data, at most; None is no limit.
    pub mem_limit: Option<u64>,
}

impl Default for FieldOptions {
    fn default() -> Self {
        let (precision, arithmetic) = (Precision::F32, Arithmetic::Fused);
        Self { dwell: 512, precision, arithmetic, source: None, data: None, value: None, band: None, mem_limit: None }
    }
}

impl FieldOptions {
    /// Sets the largest number of iterations.
    #[must_use]
    pub fn dwell(self, dwell: u32) -> Self {
        Self { dwell, ..self }
    }

    /// Sets the type of the iterated numbers.
    #[must_use]
    pub fn precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Sets how products and sums are rounded.
    #[must_use]
    pub fn arithmetic(self, arithmetic: Arithmetic) -> Self {
        Self { arithmetic, ..self }
    }

    /// Sets the CUDA source of a `kernel` field, or the text of a `formula`.
    #[must_use]
    pub fn source(self, source: impl Into<Arc<str>>) -> Self {
        Self { source: Some(source.into()), ..self }
    }

    /// Sets what a `mesh`, `points` or an `array` is made of.
    #[must_use]
    pub fn data(self, data: impl Into<FieldData>) -> Self {
        Self { data: Some(data.into()), ..self }
    }

    /// Sets what a cell of data is worth.
    #[must_use]
    pub fn value(self, value: DataValue) -> Self {
        Self { value: Some(value), ..self }
    }

    /// Sets the width of the band in which a mesh has distances, in the longest edges of cells; 0 is taken for 1.
    #[must_use]
    pub fn band(self, band: u32) -> Self {
        Self { band: Some(band.max(1)), ..self }
    }
}
