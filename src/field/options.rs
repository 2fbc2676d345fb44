//! What a field is computed with.

use std::sync::Arc;

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
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FieldOptions {
    /// D, the largest number of iterations.
    pub dwell: u32,
    /// The type of the iterated numbers.
    pub precision: Precision,
    /// Fused or separately rounded products and sums.
    pub arithmetic: Arithmetic,
    /// The CUDA source of a `kernel` field.
    pub source: Option<Arc<str>>,
}

impl Default for FieldOptions {
    fn default() -> Self {
        Self { dwell: 512, precision: Precision::F32, arithmetic: Arithmetic::Fused, source: None }
    }
}
