//! What can be wrong with a GPU, its driver or a kernel.

use std::path::PathBuf;

use crate::field::USER_SOURCE;

/// Why CUDA cannot be used, or failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// Compiled out.
    #[error("this orthant was built without the feature 'cuda'; build it with default features")]
    NotBuilt,
    /// No libcuda.
    #[error("no CUDA driver: the library libcuda.so.1 was not found; install NVIDIA's driver (580 or newer)")]
    NoDriver,
    /// A toolkit's stub in place of libcuda.
    #[error(
        "the CUDA driver that was found is a toolkit's stub; take the folder 'stubs' out of LD_LIBRARY_PATH, so that the real libcuda.so.1 is found"
    )]
    StubDriver,
    /// The driver is older than what the bindings need.
    #[error("orthant needs CUDA 13.0 (driver 580 or newer), found CUDA {major}.{minor}; update NVIDIA's driver")]
    OldDriver {
        /// The driver's CUDA version.
        major: i32,
        /// The driver's CUDA version.
        minor: i32,
    },
    /// A driver without a GPU.
    #[error("the CUDA driver sees no GPU; check nvidia-smi and CUDA_VISIBLE_DEVICES")]
    NoDevice,
    /// A GPU that is not there.
    #[error("device {ordinal}: the driver sees {count} in all, numbered from 0")]
    DeviceOrdinal {
        /// The number asked for.
        ordinal: usize,
        /// GPUs there are.
        count: usize,
    },
    /// No NVRTC.
    #[error(
        "no NVRTC, which compiles the kernels: libnvrtc.so.13 was in none of {}; install the CUDA 13.0 toolkit or the Python wheel nvidia-cuda-nvrtc 13.0 and set ORTHANT_NVRTC_DIR to its folder 'lib'",
        list(searched)
    )]
    NoNvrtc {
        /// Folders that were searched.
        searched: Vec<PathBuf>,
    },
    /// An NVRTC that is too old.
    #[error(
        "orthant needs NVRTC 13.0, found {major}.{minor}; install the Python wheel nvidia-cuda-nvrtc 13.0, set ORTHANT_NVRTC_DIR to its folder 'lib' and put that folder first in LD_LIBRARY_PATH"
    )]
    OldNvrtc {
        /// The version found.
        major: i32,
        /// The version found.
        minor: i32,
    },
    /// No device runtime library.
    #[error(
        "no libcudadevrt.a, which kernels that launch kernels are linked with: looked for {}; install the CUDA 13.0 toolkit or the Python wheel nvidia-cuda-runtime 13.0, and set ORTHANT_CUDADEVRT to the file",
        list(searched)
    )]
    NoDeviceRuntime {
        /// Files that were looked for.
        searched: Vec<PathBuf>,
    },
    /// A driver or a GPU that refuses to start.
    #[error("{what}: {text}")]
    Unusable {
        /// What was being done.
        what: &'static str,
        /// What CUDA said.
        text: String,
    },
    /// A kernel that does not compile.
    #[error("{name} does not compile for {arch}:\n{log}")]
    Compile {
        /// The source.
        name: String,
        /// The architecture, as in sm_90.
        arch: String,
        /// The compiler's log.
        log: String,
    },
    /// A launch that failed.
    #[error("kernel {kernel}, {blocks} blocks of {}x{}x{} threads: {text}", block[0], block[1], block[2])]
    Launch {
        /// The kernel.
        kernel: &'static str,
        /// Blocks in the launch.
        blocks: u64,
        /// Threads per block.
        block: [u32; 3],
        /// What CUDA said.
        text: String,
    },
    /// Any other call that failed.
    #[error("{what}: {text}")]
    Call {
        /// What was being done.
        what: &'static str,
        /// What CUDA said.
        text: String,
    },
}

impl CudaError {
    /// True if what does not compile is the user's own source.
    pub fn is_bad_source(&self) -> bool {
        matches!(self, Self::Compile { log, .. } if log.contains(USER_SOURCE))
    }

    /// True if CUDA is not there, rather than broken.
    pub fn is_absence(&self) -> bool {
        !matches!(self, Self::Compile { .. } | Self::Launch { .. } | Self::Call { .. })
    }
}

fn list(folders: &[PathBuf]) -> String {
    folders.iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>().join(", ")
}
