//! A field that the user brings as CUDA source: it exists on a GPU only.
//!
//! The source defines `__device__ u32 label(const Real (&x)[DIM], u32 dwell)`: x is the sample point of a cell, `Real` is
//! float or double as `--precision` says, and the label is cut off at `dwell`. See `examples/kernels/`.

use std::borrow::Cow;

use crate::device::{DeviceTwin, SampleArgs, padded};
use crate::domain::Domain;
use crate::error::Error;
use crate::plan::ExploreRule;
use crate::workload::{Defaults, FieldOptions, Workload};

/// One line for lists.
pub const ABOUT: &str = "a field of your own as CUDA source: --source FILE.cuh, on a GPU only";

/// What a bare run uses.
pub fn defaults(k: usize) -> Defaults {
    Defaults {
        size: [1 << 20, 1 << 10, 1 << 7, 1 << 5, 1 << 4][(k - 1).min(4)],
        g: 4,
        r: 2,
        b: 4,
        dwell: Some(255),
        window: vec![[-1.0, 1.0]; k],
        explore: ExploreRule::Border,
    }
}

/// The field over `domain`.
///
/// # Errors
/// [`Error::Input`] if there is no source.
pub fn open<const K: usize>(domain: &Domain<K>, options: &FieldOptions) -> Result<Box<dyn Workload<K>>, Error> {
    let Some(source) = &options.source else {
        return Err(Error::Input("kernel: --source FILE.cuh is needed, the CUDA source of the field".into()));
    };
    Ok(Box::new(KernelField { domain: *domain, options: options.clone(), source: source.to_string() }))
}

struct KernelField<const K: usize> {
    domain: Domain<K>,
    options: FieldOptions,
    source: String,
}

impl<const K: usize> Workload<K> for KernelField<K> {
    fn evaluate(&self, _: &[[u32; K]], _: &mut [u32]) {
        unreachable!("the engine refuses this field on the CPU");
    }

    fn is_device_only(&self) -> bool {
        true
    }

    fn max_label(&self) -> u32 {
        self.options.dwell
    }

    fn device(&self) -> Option<DeviceTwin> {
        let args = SampleArgs {
            low: padded(self.domain.window().map(|[low, _]| low)),
            pitch: padded(self.domain.pitch()),
            offset: self.domain.sample().offset(),
            dwell: self.options.dwell,
            padding: 0,
        };
        Some(DeviceTwin {
            precision: self.options.precision,
            arithmetic: self.options.arithmetic,
            user_source: Some(Cow::Owned(self.source.clone())),
            ..DeviceTwin::new("workloads/user.cuh", &args)
        })
    }
}
