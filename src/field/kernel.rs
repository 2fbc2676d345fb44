//! A field that the user brings as CUDA source: it exists on a GPU only.
//!
//! The source defines `__device__ u32 label(const Real (&x)[DIM], u32 dwell)`: x is the sample point of a cell, `Real` is
//! float or double as the precision says, and the label is cut off at `dwell`. See `examples/kernels/`.

use std::borrow::Cow;

use crate::field::definition::{Evaluate, Field};
use crate::field::error::FieldError;
use crate::field::labels::Labels;
use crate::field::options::FieldOptions;
use crate::field::points;
use crate::field::start::Defaults;
use crate::field::twin::DeviceTwin;
use crate::geometry::Domain;
use crate::rule::RuleKind;

/// One line for lists.
pub(crate) const ABOUT: &str = "a field of your own as CUDA source, on a GPU only";

/// What a bare run uses.
pub(crate) fn defaults(k: usize) -> Defaults {
    Defaults {
        size: [1 << 20, 1 << 10, 1 << 7, 1 << 5, 1 << 4][(k - 1).min(4)],
        g: 4,
        r: 2,
        b: 4,
        dwell: Some(255),
        window: vec![[-1.0, 1.0]; k],
        explore: RuleKind::Border,
        by_index: false,
    }
}

/// Opens a field whose label is computed by your CUDA source, which `options` holds. It runs on a GPU only.
///
/// ```
/// use orthant::field::{FieldError, FieldOptions, kernel};
/// use orthant::prelude::*;
///
/// let plan = Plan::builder([64, 64]).build()?;
/// let source = "__device__ u32 label(const Real (&x)[DIM], u32 dwell) { return x[0] < x[1] ? 1 : 0; }";
/// let field = kernel::open(plan.domain(), &FieldOptions::default().source(source))?;
/// // It runs on a GPU and nowhere else.
/// assert!(field.host().is_none() && field.twin().is_some());
/// assert!(matches!(kernel::open(plan.domain(), &FieldOptions::default()), Err(FieldError::NoSource)));
/// # Ok::<(), orthant::Error>(())
/// ```
///
/// # Errors
/// [`FieldError::NoSource`].
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Field<K>>, FieldError> {
    let Some(source) = &options.source else {
        return Err(FieldError::NoSource);
    };
    Ok(Box::new(KernelField { domain: *domain, options: options.clone(), source: source.to_string() }))
}

struct KernelField<const K: usize> {
    domain: Domain<K>,
    options: FieldOptions,
    source: String,
}

impl<const K: usize> Field<K> for KernelField<K> {
    fn labels(&self) -> Labels {
        Labels::counts(self.options.dwell.into())
    }

    fn host(&self) -> Option<&dyn Evaluate<K>> {
        None
    }

    fn twin(&self) -> Option<DeviceTwin> {
        let FieldOptions { dwell, precision, arithmetic, .. } = self.options;
        let twin = points::twin("fields/user.cuh", &self.domain, dwell, precision, arithmetic);
        Some(DeviceTwin { user_source: Some(Cow::Owned(self.source.clone())), ..twin })
    }
}
