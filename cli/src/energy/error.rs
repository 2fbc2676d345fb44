//! Why the energy of a GPU is not known.

/// Why the energy of a GPU is not known.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnergyError {
    /// Compiled out.
    #[cfg_attr(feature = "nvml", expect(dead_code, reason = "a build without NVML alone says so"))]
    #[error("this orthant was built without the feature 'nvml'; build it with --features nvml")]
    NotBuilt,
    /// No NVML, or one that does not start.
    #[cfg(feature = "nvml")]
    #[error("NVML, which comes with NVIDIA's driver as libnvidia-ml.so.1, does not answer: {text}")]
    NoLibrary {
        /// What the loader or the library said.
        text: String,
    },
    /// A driver that does not tell UUIDs.
    #[error("the CUDA driver does not tell the GPU's UUID, by which NVML knows it")]
    NoUuid,
    /// A GPU that CUDA sees and NVML does not: a part of a card, for example.
    #[cfg(feature = "nvml")]
    #[error("NVML does not know {uuid}: {text}")]
    NoDevice {
        /// The GPU's UUID, as CUDA tells it.
        uuid: String,
        /// What NVML said.
        text: String,
    },
    /// A GPU without either instrument.
    #[error("NVML tells neither energy nor power of {uuid}")]
    Unsupported {
        /// The GPU's UUID.
        uuid: String,
    },
}
