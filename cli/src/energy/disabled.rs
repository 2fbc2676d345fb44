//! The readings of a build without NVML: there are none.

use std::convert::Infallible;

use super::error::EnergyError;

/// A card that this build cannot read.
#[derive(Debug)]
pub(super) struct Sensor(Infallible);

impl Sensor {
    /// Fails.
    pub(super) fn open(_: &str) -> Result<Self, EnergyError> {
        Err(EnergyError::NotBuilt)
    }

    /// Fails.
    pub(super) fn version() -> Result<String, EnergyError> {
        Err(EnergyError::NotBuilt)
    }

    /// Cannot be called: there is no card.
    pub(super) fn joules(&self) -> Option<f64> {
        match self.0 {}
    }

    /// Cannot be called: there is no card.
    pub(super) fn watts(&self) -> Option<f64> {
        match self.0 {}
    }
}
