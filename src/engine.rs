//! Where plan, workload, choices and backend meet.

use std::time::Instant;

use crate::cpu::{Control, Cpu, Sink};
use crate::cuda;
use crate::error::Error;
use crate::field::Field;
use crate::how::{How, Keep};
use crate::memory::Estimate;
use crate::plan::Plan;
use crate::strategy::StrategyKind;
use crate::subdivision::Subdivision;
use crate::workload::Workload;

/// Where a plan is carried out.
#[derive(Debug)]
pub enum Backend {
    /// The processor, always there.
    Cpu,
    /// An open GPU.
    Cuda(Box<cuda::Device>),
}

impl Backend {
    /// `cpu` or `cuda`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Cuda(_) => "cuda",
        }
    }

    /// The GPU's name; None for the CPU.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::Cpu => None,
            Self::Cuda(device) => Some(device.name()),
        }
    }

    /// Multiprocessors of a GPU, and the threads that each keeps in flight; None for the CPU.
    pub fn multiprocessors(&self) -> Option<[u32; 2]> {
        match self {
            Self::Cpu => None,
            Self::Cuda(device) => Some(device.multiprocessors()),
        }
    }

    /// Carries out a plan here; the cells are the same everywhere.
    ///
    /// # Errors
    /// As [`run`]; on CUDA also [`Error::Cuda`].
    pub fn run<const K: usize>(
        &self,
        plan: &Plan<K>,
        workload: &dyn Workload<K>,
        how: &How,
        control: &Control,
    ) -> Result<Subdivision<K>, Error> {
        match self {
            Self::Cpu => run(plan, workload, how, control),
            Self::Cuda(device) => cuda::run(device, plan, workload, how, control),
        }
    }
}

/// Carries out a plan on the CPU.
///
/// # Errors
/// Before any work: [`Error::Memory`] if the estimate exceeds `how.mem_limit`, [`Error::Input`] if labels do not fit the
/// cell type or the choices do not go together. Later: [`Error::Interrupted`], or [`Error::Memory`] if tables or results
/// outgrow the estimate and the limit.
pub fn run<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    control: &Control,
) -> Result<Subdivision<K>, Error> {
    run_into(None, plan, workload, how, control)
}

/// The same into the field that an earlier run of the plan has left.
pub(crate) fn run_into<const K: usize>(
    field: Option<Field<K>>,
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    control: &Control,
) -> Result<Subdivision<K>, Error> {
    check_choices(workload, how)?;
    check_on_cpu(workload)?;
    let estimate = Estimate::new(plan, workload, how);
    estimate.check(how.mem_limit)?;
    let all = || carry_out(plan, workload, how, control, &estimate, field);
    let Some(threads) = how.threads else { return all() };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::System(format!("--threads {threads}: {error}")))?
        .install(all)
}

/// Checks what every backend needs: labels fit the cells, and something may be in flight.
pub(crate) fn check_choices<const K: usize>(workload: &dyn Workload<K>, how: &How) -> Result<(), Error> {
    let label = workload.max_label();
    if label > how.cell.max_label() {
        return Err(Error::Input(format!(
            "--cell {}: labels of this workload reach {label}, more than {} (for dwell fields, see --dwell)",
            how.cell,
            how.cell.max_label()
        )));
    }
    if how.max_kernels == Some(0) {
        return Err(Error::Input("--max-kernels 0: at least one must be in flight".into()));
    }
    Ok(())
}

/// Checks that the CPU can evaluate a workload.
pub(crate) fn check_on_cpu<const K: usize>(workload: &dyn Workload<K>) -> Result<(), Error> {
    match workload.is_device_only() {
        true => Err(Error::Unavailable("this field is CUDA source and needs a GPU: --backend cuda".into())),
        false => Ok(()),
    }
}

/// One run into `field`, which a run before this one may have left, or into a new one.
fn carry_out<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    control: &Control,
    estimate: &Estimate,
    field: Option<Field<K>>,
) -> Result<Subdivision<K>, Error> {
    control.reach(0);
    let start = Instant::now();
    let mut field = field.or_else(|| (how.keep == Keep::Dense).then(|| Field::zeroed(plan.domain(), how.cell)));
    let limit = how.mem_limit.unwrap_or(u64::MAX).saturating_sub(estimate.dense as u64);
    let sink = Sink::new(field.as_mut().map(Field::canvas), how.keep, how.cell, limit);
    let cpu = Cpu::new(plan, workload, how, control, sink);
    let (levels, launches) = how.strategy.get::<K>().run(&cpu)?;
    let (terminals, bricks) = cpu.sink.finish();
    let time = start.elapsed();
    let subdivision =
        Subdivision { plan: plan.clone(), levels, terminals, bricks, field, launches, time, device_time: None };
    debug_assert!(how.strategy != StrategyKind::Exhaustive || subdivision.terminals.is_empty());
    complete(subdivision)
}

/// Passes a result on if it accounts for every cell.
pub(crate) fn complete<const K: usize>(subdivision: Subdivision<K>) -> Result<Subdivision<K>, Error> {
    let totals = subdivision.totals();
    let seen = u128::from(totals.filled_cells) + u128::from(totals.leaf_cells);
    let total = subdivision.plan.domain().cells();
    // Counts wrap in 64 bits where a domain has more cells than that; the comparison then is modulo 2^64.
    if seen as u64 != total as u64 {
        return Err(Error::Incomplete { seen, total });
    }
    Ok(subdivision)
}
