//! The readings of one card, by NVML.
//!
//! The library is loaded at run time and started once per process; it stays, so that a card can be read from any thread.

use std::sync::OnceLock;

use nvml_wrapper::{Device, Nvml};

use super::error::EnergyError;

/// A card as NVML knows it.
#[derive(Debug)]
pub(super) struct Sensor(Device<'static>);

impl Sensor {
    /// The card with this UUID.
    pub(super) fn open(uuid: &str) -> Result<Self, EnergyError> {
        let found = library()?.device_by_uuid(uuid);
        found.map(Self).map_err(|error| EnergyError::NoDevice { uuid: uuid.into(), text: error.to_string() })
    }

    /// The driver's version.
    pub(super) fn version() -> Result<String, EnergyError> {
        let version = library()?.sys_driver_version();
        version.map(|version| format!("NVML of driver {version}")).map_err(unanswered)
    }

    /// Joules since the driver was loaded; None where it is not told.
    pub(super) fn joules(&self) -> Option<f64> {
        self.0.total_energy_consumption().ok().map(|millijoules| millijoules as f64 / 1e3)
    }

    /// Watts at the moment, or over the last second; None where it is not told.
    pub(super) fn watts(&self) -> Option<f64> {
        self.0.power_usage().ok().map(|milliwatts| f64::from(milliwatts) / 1e3)
    }
}

fn library() -> Result<&'static Nvml, EnergyError> {
    static LIBRARY: OnceLock<Result<Nvml, EnergyError>> = OnceLock::new();
    LIBRARY.get_or_init(|| Nvml::init().map_err(unanswered)).as_ref().map_err(EnergyError::clone)
}

fn unanswered(error: nvml_wrapper::error::NvmlError) -> EnergyError {
    EnergyError::NoLibrary { text: error.to_string() }
}
