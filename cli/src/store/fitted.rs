//! Constants of the cost model, as they were fitted on a device.

use orthant::{Computation, Keep};
use orthant_lab::model::Code;
use orthant_lab::model::observed::Terms;
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

/// The constants of one setting and one code.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Fitted {
    #[serde(flatten)]
    pub(crate) setting: Setting,
    /// What they are of. Older files have constants of regions, which were fitted together with exhaustive runs.
    #[serde(default = "regions")]
    pub(crate) code: Code,
    /// In seconds.
    pub(crate) constants: Terms,
    /// Runs that they rest on.
    pub(crate) runs: usize,
    /// Root mean square of ln t − ln f.
    pub(crate) rms: f64,
    pub(crate) held_out: Option<HeldOut>,
}

fn regions() -> Code {
    Code::Regions
}

impl Entry for Fitted {
    const FOLDER: &'static str = "fits";
    fn same(&self, other: &Self) -> bool {
        (&self.setting, self.code) == (&other.setting, other.code)
    }
    fn of_version_2(text: &str) -> serde_json::Result<Vec<Self>> {
        serde_json::from_str::<StoreFile<Self>>(text).map(|page| page.entries)
    }
}

/// What was fitted for a setting on a device.
#[derive(Debug, Default)]
pub(crate) struct Constants(Vec<(Code, Terms)>);

impl Constants {
    /// True if nothing was fitted.
    pub(crate) fn are_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The constants that serve a code; None if there are none.
    pub(crate) fn of(&self, code: Code) -> Option<Terms> {
        let of = |code: &Code| self.0.iter().find(|(fitted, _)| fitted == code).map(|&(_, constants)| constants);
        code.served_by().iter().find_map(of)
    }
}

/// The constants for a setting on a device.
///
/// # Errors
/// [`Error::Input`] if a file is there and cannot be understood.
pub(crate) fn fitted(backend: &str, device: &str, setting: &Setting) -> Result<Constants, Error> {
    let (entries, _) = entries::<Fitted>(backend, device)?;
    let these = entries.into_iter().filter(|fitted| fitted.setting == *setting);
    Ok(Constants(these.map(|fitted| (fitted.code, fitted.constants)).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_constants_serve_all_but_streams() {
        let old = r#"{"workload": "mandelbrot", "source": null, "k": 2, "precision": "f32", "arithmetic": "fused", "keep": "dense",
            "constants": {"alpha": 1.0, "nu": 2.0, "gamma": 0.0, "lambda": 0.0, "kappa": 0.0, "beta": 0.0, "delta": 0.0},
            "runs": 9, "rms": 0.1, "held_out": null}"#;
        let old: Fitted = serde_json::from_str(old).unwrap();
        assert_eq!(old.code, Code::Regions);
        let of_streams = Fitted { code: Code::StreamFaces, ..old.clone() };
        assert!(old.same(&old) && !old.same(&of_streams));
        let constants = Constants(vec![(old.code, old.constants)]);
        for (code, served) in [
            (Code::Exhaustive, true),
            (Code::ProvenRegions, true),
            (Code::StreamFaces, false),
            (Code::StreamProofs, false),
        ] {
            assert_eq!(constants.of(code).is_some(), served, "{code}");
        }
        let other = Terms { alpha: 7.0, ..old.constants };
        assert_eq!(
            Constants(vec![(old.code, old.constants), (Code::Exhaustive, other)]).of(Code::Exhaustive),
            Some(other)
        );
    }
}
