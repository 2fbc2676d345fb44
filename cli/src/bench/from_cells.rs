//! Cases of the strategy `bottom-up`: the data of a file become a tree, from the cells up.

use std::time::{Duration, Instant};

use orthant::curve::CurveKind;
use orthant::field::FieldKind;
use orthant::points::PointsValue;
use orthant::result::Times;
use orthant::tree::{Census, Predicate};
use orthant::{BackendKind, Built, Control, Keep, Plan, Report, Request, Tree};
use rayon::ThreadPool;

use super::row::CaseTimes;
use crate::error::Error;
use crate::measure::{Patience, repeat};
use crate::options::RunOptions;
use crate::threads::pool;

/// Checks a case, and puts one of bottom-up on the CPU, which carries it out.
///
/// # Errors
/// Says what bottom-up has not.
pub(super) fn placed(mut run: RunOptions) -> Result<RunOptions, String> {
    if !run.how.is_bottom_up() {
        return Ok(run);
    }
    if ![FieldKind::Array, FieldKind::Points].contains(&run.workload) {
        let name = run.workload;
        return Err(format!("--strategy bottom-up: {name} has no cells to join; use ask, dp or exhaustive"));
    }
    run.joins().map_err(|error| error.to_string())?;
    if run.how.kept.0.get("keep") != Some(Keep::Regions.name()) {
        return Err("--strategy bottom-up: a sweep measures trees; add --keep regions, for all strategies".into());
    }
    let curve =
        run.computed.0.get("curve").map(str::parse::<CurveKind>).transpose().map_err(|error| error.to_string())?;
    if let Some(flat) = curve.filter(|curve| !curve.is_hierarchical()) {
        return Err(format!("--curve {flat}: a tree lies along morton or hilbert; exclude the case of bottom-up"));
    }
    run.how.backend = Some(BackendKind::Cpu);
    Ok(run)
}

/// Measures the tree of the request's data. The time is that of making the tree; what it holds is counted behind it.
pub(super) fn measure<const K: usize>(
    request: &Request,
    plan: &Plan<K>,
    rule: &Patience,
    control: &Control,
    cpu: &str,
) -> Result<(CaseTimes, Report), Error> {
    let how = &request.how;
    let value = request.computed.value.and_then(|value| value.of_points()).unwrap_or(PointsValue::Occupied);
    let data = request.data.as_ref().expect("arrays and points are read before");
    let pool = how.tuning.threads.map(pool).transpose()?;
    let mut made = None;
    let mut make = || {
        made = None;
        let start = Instant::now();
        made = Some(Tree::from_data(plan, data, value, how.mem_limit, control)?);
        Ok(Times { wall: start.elapsed(), device: None })
    };
    let samples = match &pool {
        Some(pool) => pool.install(|| repeat(rule, &mut make)),
        None => repeat(rule, &mut make),
    }?;
    let tree = made.expect("a case is measured once at least");
    let mut census = Census::new(plan, 0, false);
    census.add(&tree);
    let (mut counts, _) = census.counts();
    counts.times.wall = Duration::from_secs_f64(samples.median());
    let built = Built {
        // The case of a row says it.
        input: None,
        points: None,
        counts: &counts,
        cell: tree.kind(),
        predicate: Predicate::EXACT,
        keep: how.kept.keep,
        threads: pool.as_ref().map_or_else(rayon::current_num_threads, ThreadPool::current_num_threads),
        device: cpu,
        checksum: None,
    };
    let report = Report::bottom_up(request.computation(plan), built);
    // Rows carry every sample.
    Ok((CaseTimes::new(samples, rule.warm_up), Report { samples: Vec::new(), ..report }))
}
