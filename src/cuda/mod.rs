//! The CUDA backend: kernels compiled at run time, driven by host programs.
//!
//! Needs a driver and NVRTC where it runs, nothing where it is built. The kernels are in `kernels/`; `specialise` says
//! what they are compiled for, `session` holds a plan on a device, one file per strategy drives it.

mod ask;
mod cache;
mod device;
mod dp;
mod driver;
pub mod error;
mod exhaustive;
mod facts;
mod launcher;
mod limits;
mod link;
mod memory;
mod nvrtc;
mod sampler;
mod session;
mod specialise;
mod terminals;
mod twin;

pub use device::{Device, DeviceOptions, findings};
pub use driver::Driver;
pub use error::CudaError;
pub use facts::DeviceFacts;
pub use nvrtc::Nvrtc;
pub use sampler::Sampler;
pub use session::Session;

use crate::cpu::Control;
use crate::error::Error;
use crate::how::How;
use crate::plan::Plan;
use crate::subdivision::Subdivision;
use crate::workload::Workload;

/// Compiles every kernel of a plan, and that of a sample, for architectures such as `sm_90`; needs NVRTC, but no GPU.
/// Returns how many sources were compiled.
///
/// # Errors
/// [`CudaError::Compile`] with the compiler's log; [`Error::Input`] if the workload has no device twin.
pub fn compile_kernels<const K: usize>(
    compiler: Nvrtc,
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    architectures: &[&str],
) -> Result<usize, Error> {
    let twin = workload.device().ok_or_else(|| Error::Input("the workload has no device twin".into()))?;
    let sources = [
        ask::specialise(plan, workload, &twin, how),
        dp::specialise(plan, workload, &twin, how),
        exhaustive::specialise(plan, workload, &twin, how)?,
        sampler::specialise(plan.domain(), workload, &twin, how)?,
    ];
    for arch in architectures {
        for source in &sources {
            device::compile(compiler, source, arch)?;
        }
    }
    Ok(sources.len() * architectures.len())
}

/// Carries out a plan on a GPU, once.
///
/// # Errors
/// As [`Session::new`], [`Session::run`] and [`Session::finish`].
pub fn run<const K: usize>(
    device: &Device,
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    control: &Control,
) -> Result<Subdivision<K>, Error> {
    let mut session = Session::new(device, plan, workload, how)?;
    session.run(control)?;
    session.finish()
}
