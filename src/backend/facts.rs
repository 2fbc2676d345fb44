//! What is worth knowing of a GPU beside a measurement.

use serde::{Deserialize, Serialize};

/// A GPU and the software around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DeviceFacts {
    /// Its name, as the driver says it.
    pub name: String,
    /// What tells it from others of its kind.
    pub uuid: Option<String>,
    /// Its compute capability.
    pub capability: String,
    /// The CUDA version of the driver.
    pub driver: String,
    /// The version of the run-time compiler.
    pub nvrtc: String,
    /// Bytes of its memory.
    pub memory: Option<u64>,
    /// The highest clock of its processors in MHz, where the driver tells.
    pub clock_mhz: Option<u64>,
    /// The highest clock of its memory in MHz, where the driver tells.
    pub memory_clock_mhz: Option<u64>,
}
