//! Constants of the cost model, as they were fitted on a device.

use orthant::model::observed::Terms;
use orthant::{Computation, Keep};
use serde::{Deserialize, Serialize};

use super::file::{Entry, StoreFile, entries};
use crate::error::Error;

/// What constants depend on beside the device.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Setting {
    pub(super) workload: String,
    /// The hash of the CUDA source of a `kernel` field.
    pub(super) source: Option<String>,
    pub(super) k: usize,
    pub(super) precision: String,
    pub(super) arithmetic: String,
    pub(super) keep: String,
}

impl Setting {
    /// Of what is computed and what is kept.
    pub(crate) fn of(computation: &Computation, keep: Keep) -> Self {
        Self {
            workload: computation.workload.clone(),
            source: computation.source.clone(),
            k: computation.k,
            precision: computation.precision.to_string(),
            arithmetic: computation.arithmetic.to_string(),
            keep: keep.to_string(),
        }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { workload, source, k, precision, arithmetic, keep } = self;
        let source = source.as_ref().map_or(String::new(), |hash| format!(" {hash}"));
        write!(f, "{workload}{source}, k {k}, {precision} {arithmetic}, keep {keep}")
    }
}

/// Errors on the runs of one size that a fit was made without.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct HeldOut {
    /// Cells on axis 0.
    pub(crate) n: u64,
    /// Its runs.
    pub(crate) runs: usize,
    /// |predicted − measured|/measured, the median.
    pub(crate) median: f64,
    /// The largest.
    pub(crate) worst: f64,
}

/// The constants of one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fitted {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    /// In seconds.
    pub(crate) constants: Terms,
    /// Runs that they rest on.
    pub(crate) runs: usize,
    /// Root mean square of ln t − ln f.
    pub(crate) rms: f64,
    pub(crate) held_out: Option<HeldOut>,
}

impl Entry for Fitted {
    const FOLDER: &'static str = "fits";
    fn same(&self, other: &Self) -> bool {
        self.setting == other.setting
    }
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>> {
        serde_json::from_str::<StoreFile<Self>>(text).map(|page| page.entries)
    }
}

/// The constants for a setting on a device; None if nothing was fitted.
///
/// # Errors
/// [`Error::Input`] if a file is there and cannot be understood.
pub(crate) fn fitted(backend: &str, device: &str, setting: &Setting) -> Result<Option<Terms>, Error> {
    let (entries, _) = entries::<Fitted>(backend, device)?;
    Ok(entries.into_iter().find(|fitted| fitted.setting == *setting).map(|fitted| fitted.constants))
}
