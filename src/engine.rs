//! Where plan, workload and choices meet.

use std::time::Instant;

use crate::cpu::{Control, Cpu, Sink};
use crate::error::Error;
use crate::field::Field;
use crate::how::{How, Keep};
use crate::memory::Estimate;
use crate::plan::Plan;
use crate::strategy::StrategyKind;
use crate::subdivision::Subdivision;
use crate::workload::Workload;

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
    let label = workload.max_label();
    if label > how.cell.max_label() {
        return Err(Error::Input(format!(
            "--cell {}: labels of this workload reach {label}, more than {} (for dwell fields, see --dwell)",
            how.cell,
            how.cell.max_label()
        )));
    }
    if how.max_kernels == 0 {
        return Err(Error::Input("--max-kernels 0: at least one task must be in flight".into()));
    }
    let estimate = Estimate::new(plan, workload, how);
    estimate.check(how.mem_limit)?;
    let Some(threads) = how.threads else { return carry_out(plan, workload, how, control, &estimate) };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::System(format!("--threads {threads}: {error}")))?
        .install(|| carry_out(plan, workload, how, control, &estimate))
}

fn carry_out<const K: usize>(
    plan: &Plan<K>,
    workload: &dyn Workload<K>,
    how: &How,
    control: &Control,
    estimate: &Estimate,
) -> Result<Subdivision<K>, Error> {
    let start = Instant::now();
    let mut field = (how.keep == Keep::Dense).then(|| Field::zeroed(plan.domain(), how.cell));
    let limit = how.mem_limit.unwrap_or(u64::MAX).saturating_sub(estimate.dense as u64);
    let sink = Sink::new(field.as_mut().map(Field::canvas), how.keep, how.cell, limit);
    let cpu = Cpu::new(plan, workload, how, control, sink);
    let (levels, launches) = how.strategy.get::<K>().run(&cpu)?;
    let (terminals, bricks) = cpu.sink.finish();
    let subdivision =
        Subdivision { plan: plan.clone(), levels, terminals, bricks, field, launches, time: start.elapsed() };
    let totals = subdivision.totals();
    let seen = u128::from(totals.filled_cells) + u128::from(totals.leaf_cells);
    // Counts wrap in 64 bits where a domain has more cells than that; the comparison then is modulo 2^64.
    if seen as u64 != plan.domain().cells() as u64 {
        return Err(Error::Incomplete { seen, total: plan.domain().cells() });
    }
    debug_assert!(how.strategy != StrategyKind::Exhaustive || subdivision.terminals.is_empty());
    Ok(subdivision)
}
