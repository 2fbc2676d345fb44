//! The CUDA backend: kernels compiled at run time, driven by host programs.
//!
//! Needs a driver and NVRTC where it runs, nothing where it is built. The kernels are in `kernels/`; `specialise` says
//! what they are compiled for, `prepared` holds a plan on a device, `strategy` has a host program per file.

mod args;
mod array_box;
mod backend;
mod balance;
mod cache;
mod compile;
mod constants;
mod device;
mod driver;
mod findings;
mod gather;
mod kernel;
mod launcher;
mod limits;
mod link;
mod memory;
mod native;
mod nvrtc;
mod outline;
mod pending;
mod pinned;
mod points;
mod prepared;
mod pyramid;
mod runner;
mod sampler;
mod setup;
mod specialise;
mod strategy;
mod survey;
mod tape_forest;
mod twin;
mod watch;

pub use backend::{compile_common, compile_kernels};
pub use balance::compile_balancers;
pub use device::{Device, DeviceOptions};
pub use findings::findings;
pub use nvrtc::Nvrtc;

pub use crate::backend::CudaError;
