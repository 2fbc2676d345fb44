//! A GPU as a backend.

use super::device::Device;
use super::nvrtc::Nvrtc;
use super::outline::Outline;
use super::prepared::OnCuda;
use super::{balance, compile, gather, points, pyramid, sampler, strategy};
use crate::backend::{
    Backend, Balanced, Balances, Balancing, DeviceFacts, Error, How, Mapping, Place, Prepared, Sampler, SealedBackend,
    StrategyKind,
};
use crate::field::Field;
use crate::geometry::{Domain, SampleGrid};
use crate::plan::Plan;

impl SealedBackend for Device {}

impl Place for Device {
    fn name(&self) -> &'static str {
        "cuda"
    }

    fn device(&self) -> Option<&str> {
        Some(self.product())
    }

    fn multiprocessors(&self) -> Option<[u32; 2]> {
        Some(self.processors())
    }

    fn facts(&self) -> Option<DeviceFacts> {
        Some(self.record())
    }

    fn second(&mut self) -> Result<Option<Self>, Error> {
        Ok(Some(self.shared()?))
    }
}

impl Balances for Device {
    fn balance(&self, asked: &Balancing<'_>) -> Result<Balanced, Error> {
        balance::balance(self, asked)
    }
}

impl<const K: usize> Backend<K> for Device {
    fn sample<'a>(
        &'a self,
        domain: &Domain<K>,
        field: &'a dyn Field<K>,
        grid: SampleGrid<K>,
        how: &How,
    ) -> Result<Sampler<'a>, Error> {
        sampler::sampler(self, &Outline::of_sample(domain, field)?, &grid.into(), how)
    }

    fn has_streams(&self, plan: &Plan<K>, field: &dyn Field<K>, how: &How) -> bool {
        has_streams(Outline::new(plan, field), how)
    }

    fn prepare<'a>(
        &'a self,
        plan: &Plan<K>,
        field: &'a dyn Field<K>,
        how: &How,
    ) -> Result<Box<dyn Prepared<K> + 'a>, Error> {
        Ok(Box::new(OnCuda::new(self, plan, field, how)?))
    }
}

fn has_streams(mut outline: Outline<'_>, how: &How) -> bool {
    let Ok(twin) = super::twin::checked(&outline, how.on_cuda().block) else { return false };
    outline.meet(&twin);
    how.check_proofs(outline.rule, twin.has_proofs()).is_ok() && strategy::has_streams(&outline, &twin, how)
}

/// Compiles every kernel of a plan that knows the plan, and that of a sample, for architectures such as `sm_90`; needs NVRTC, but no GPU.
/// For a virtual one such as `compute_90` NVRTC only checks them, in a fifth of the time. Returns how many sources were compiled.
/// [`compile_common`] compiles the others.
///
/// # Errors
/// [`CudaError::Compile`](super::CudaError::Compile) with the compiler's log; [`Error::Unsupported`] if the field has no
/// device twin.
pub fn compile_kernels<const K: usize>(
    compiler: Nvrtc,
    plan: &Plan<K>,
    field: &dyn Field<K>,
    how: &How,
    architectures: &[&str],
) -> Result<usize, Error> {
    let sample = Outline::of_sample(plan.domain(), field)?;
    compile_all(compiler, Outline::new(plan, field), &sample, how, architectures)
}

/// Compiles the kernels that are the same for every plan, as [`compile_kernels`] does those of a plan.
///
/// # Errors
/// [`CudaError::Compile`](super::CudaError::Compile) with the compiler's log.
pub fn compile_common(compiler: Nvrtc, architecture: &str) -> Result<usize, Error> {
    let sources = [gather::specialise(), points::specialise()];
    for source in &sources {
        compile::compile(compiler, source, architecture)?;
    }
    Ok(sources.len())
}

fn compile_all(
    compiler: Nvrtc,
    mut outline: Outline<'_>,
    sample: &Outline<'_>,
    how: &How,
    architectures: &[&str],
) -> Result<usize, Error> {
    let twin = super::twin::checked(&outline, how.on_cuda().block)?;
    outline.meet(&twin);
    let outline = &outline;
    let mut sources = vec![sampler::specialise(sample, &twin, how)];
    for &kind in StrategyKind::ON_BACKENDS {
        sources.push((strategy::of(outline, &twin, &how.clone().strategy(kind)).specialise)(outline, &twin, how)?);
    }
    if how.tuning.mapping() != Mapping::Stream && (twin.has_proofs() || !outline.rule.certifies()) {
        let how = how.clone().strategy(StrategyKind::Ask).mapping(Some(Mapping::Stream));
        match (strategy::of(outline, &twin, &how).specialise)(outline, &twin, &how) {
            // Not every plan has streams, and this one asked for none.
            Err(Error::Choice(_)) => {}
            source => sources.push(source?),
        }
    }
    if twin.surveyed {
        sources.push(pyramid::specialise(outline, &twin, how));
    }
    sources.extend(balance::specialise_all(outline, &twin, how)?);
    for arch in architectures {
        for source in &sources {
            compile::compile(compiler, source, arch)?;
        }
    }
    Ok(sources.len() * architectures.len())
}
