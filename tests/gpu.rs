//! The CUDA backend on a GPU. Skips where there is none, and fails there if `ORTHANT_REQUIRE_GPU` is set.
//!
//! The binary needs nothing but a driver and NVRTC, so it can be carried to a machine without Rust.
#![cfg(feature = "cuda")]

use std::time::Duration;

use orthant::conformance::{self, Scope};
use orthant::cuda::{Device, DeviceOptions, Session};
use orthant::how::{DpLaunch, Stack, Table};
use orthant::prelude::*;
use orthant::subdivision::{Launches, LevelStats};

fn device() -> Option<Device> {
    match Device::open(&DeviceOptions::from_env(0)) {
        Ok(device) => Some(device),
        Err(error) if std::env::var_os("ORTHANT_REQUIRE_GPU").is_some() => panic!("{error}"),
        Err(error) => {
            println!("SKIPPED: {error}");
            None
        }
    }
}

/// True where a slow tool watches.
fn brief() -> bool {
    scope() != Scope::Full
}

fn scope() -> Scope {
    match std::env::var("ORTHANT_GPU_SCOPE").as_deref() {
        Ok("brief") => Scope::Brief,
        Ok("static") => Scope::Static,
        _ => Scope::Full,
    }
}

/// Everything that `verify` varies, against the CPU. `ORTHANT_GPU_SCOPE=brief` varies less, for slow tools,
/// `static` the same without launches from the device.
#[test]
fn every_choice_gives_the_cpus_cells() {
    let Some(device) = device() else { return };
    let backend = Backend::Cuda(Box::new(device));
    let mut runs = 0;
    for case in conformance::cases() {
        conformance::verify(&case, &backend, scope(), &Control::default(), |outcome| {
            assert_eq!(outcome.fault, None, "{outcome:?}");
            runs += usize::from(outcome.backend == "cuda");
        })
        .unwrap();
    }
    println!("{runs} runs on {}", backend.device().unwrap_or("nothing"));
    assert!(runs > 500);
}

/// The counts that were published with the ASK authors' code, in plain arithmetic, and those of exact sums.
#[test]
fn published_counts() {
    let Some(device) = device() else { return };
    for (arithmetic, counts) in [
        (Arithmetic::Fused, [4, 14, 50, 170, 541, 1680, 4872, 13721]),
        (Arithmetic::Plain, [4, 14, 50, 170, 541, 1681, 4872, 13720]),
    ] {
        let domain = Domain::new([1024; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
        let plan = Plan::new(domain, Scheme::uniform(2, 2, 1), CurveKind::Hilbert, ExploreRule::Border).unwrap();
        let options = FieldOptions { arithmetic, ..FieldOptions::default() };
        let field = workload::mandelbrot::open(&domain, &options).unwrap();
        let how = How { keep: Keep::Counts, ..How::default() };
        let run = orthant::cuda::run(&device, &plan, &*field, &how, &Control::default()).unwrap();
        let found: Vec<u64> = run.levels()[..8].iter().map(|level| level.counts.subdivided).collect();
        assert_eq!(found, counts, "{arithmetic}");
    }
}

/// 2^33 cells: indices beyond 32 bits, in every way that a run can be kept; ten runs of each over poisoned memory.
#[test]
fn more_cells_than_32_bits_count() {
    let Some(device) = device() else { return };
    if brief() || device.memory().unwrap().0 < 20 << 30 {
        return println!("SKIPPED: brief, or less than 20 GiB of device memory");
    }
    let size = [1 << 17, 1 << 16];
    let domain = Domain::new(size, [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(64, 4, 16), CurveKind::Morton, ExploreRule::Border).unwrap();
    let field = workload::mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
    let mut counts = Vec::new();
    for (keep, scheme) in [
        (Keep::Dense, ParallelScheme::Sbr),
        (Keep::Dense, ParallelScheme::Mbr),
        (Keep::Regions, ParallelScheme::Sbr),
        (Keep::Counts, ParallelScheme::Sbr),
    ] {
        let how = How { keep, scheme, ..How::default() };
        let mut session = Session::new(&device, &plan, &*field, &how).unwrap();
        for _ in 0..10 {
            session.poison().unwrap();
            session.run(&Control::default()).unwrap();
        }
        let run = session.finish().unwrap();
        let level = |l: &LevelStats<2>| (l.counts.subdivided, l.counts.filled, l.counts.leaves);
        counts.push(run.levels().iter().map(level).collect::<Vec<_>>());
        if let Some(dense) = run.field() {
            // Rows above and below 2^32 cells, against the CPU; a sampled border may hide a few cells.
            for y in [17, 20_000, 32_769, 48_003, 65_535] {
                let cells: Vec<_> = (0..size[0]).step_by(7).map(|x| [x, y]).collect();
                let mut labels = vec![0; cells.len()];
                field.evaluate(&cells, &mut labels);
                let wrong = cells.iter().zip(&labels).filter(|&(&cell, &label)| dense.label(cell) != label).count();
                assert!(wrong * 1000 < cells.len(), "row {y}: {wrong} of {} cells", cells.len());
            }
        }
    }
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]));
}

/// 2^36 cells as regions and bricks: codes of more than 32 bits, visits of more than 2^32 cells; as on the CPU.
#[test]
fn wide_codes_and_visits() {
    let Some(device) = device() else { return };
    let size = if brief() { [1 << 10; 3] } else { [1 << 12; 3] };
    let domain = Domain::new(size, [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let field = workload::diagonal::open(&domain, &FieldOptions::default()).unwrap();
    for (g, explore) in [(2, ExploreRule::Border), (128, ExploreRule::Border), (128, ExploreRule::Full)] {
        for &curve in CurveKind::ALL {
            let plan = Plan::new(domain, Scheme::uniform(g, 2, 1), curve, explore).unwrap();
            let how = How { keep: Keep::Regions, ..How::default() };
            let here = orthant::cuda::run(&device, &plan, &*field, &how, &Control::default()).unwrap();
            let there = run(&plan, &*field, &how, &Control::default()).unwrap();
            assert_eq!(here.terminals().len(), there.terminals().len());
            for (a, b) in here.terminals().iter().zip(there.terminals()) {
                assert_eq!((a.level(), a.code), (b.level(), b.code), "{curve} g {g} {explore}");
                if let (Content::Uniform(a), Content::Uniform(b)) = (a.content(), b.content()) {
                    assert_eq!(a, b);
                }
            }
        }
    }
}

/// The throttle of stacks: never more launches in flight than allowed, and the same cells.
#[test]
fn stacks_are_throttled() {
    let Some(device) = device() else { return };
    let domain = Domain::new([40; 4], [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 4), CurveKind::Hilbert, ExploreRule::Border).unwrap();
    let field = workload::julibrot::open(&domain, &FieldOptions { dwell: 256, ..FieldOptions::default() }).unwrap();
    let mut checksums = Vec::new();
    for (stack, max_kernels) in
        [(Stack::Folded, None), (Stack::Split, Some(1)), (Stack::Split, Some(5)), (Stack::Split, None)]
    {
        let how = How { strategy: StrategyKind::Exhaustive, stack, max_kernels, ..How::default() };
        let run = orthant::cuda::run(&device, &plan, &*field, &how, &Control::default()).unwrap();
        let launches = run.launches();
        assert_eq!(launches.kernels, if stack == Stack::Folded { 1 } else { 40 });
        assert!(launches.most_in_flight <= max_kernels.unwrap_or(128) as u64, "{launches:?}");
        checksums.push(run.field().unwrap().checksum());
    }
    assert!(checksums.windows(2).all(|pair| pair[0] == pair[1]));
}

/// A table of coordinates gives the same terminal regions as scalar codes.
#[test]
fn tables_of_coordinates_name_the_same_regions() {
    let Some(device) = device() else { return };
    let domain = Domain::new([64; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Hilbert, ExploreRule::Border).unwrap();
    let field = workload::mandelbulb::open(&domain, &FieldOptions { dwell: 32, ..FieldOptions::default() }).unwrap();
    let terminals = Table::ALL.iter().map(|&table| {
        let how = How { table, ..How::default() };
        orthant::cuda::run(&device, &plan, &*field, &how, &Control::default()).unwrap().terminals().to_vec()
    });
    let terminals: Vec<_> = terminals.collect();
    assert!(terminals[0].len() > 100 && terminals[0] == terminals[1]);
}

/// Dynamic parallelism under every limit: one workload in one dimension, all launches and schemes.
struct Limits<'a> {
    device: &'a Device,
    request: Request,
}

impl Job for Limits<'_> {
    type Output = ();

    fn run<const K: usize>(self, open: Open<K>) {
        let Self { device, request } = self;
        let plan = request.plan::<K>().unwrap();
        let field = open(plan.domain(), &request.options().unwrap()).unwrap();
        let control = Control::default();
        let checksum = |run: Subdivision<K>| run.field().unwrap().checksum();
        let ask = checksum(orthant::cuda::run(device, &plan, &*field, &How::default(), &control).unwrap());
        if !field.is_device_only() {
            assert_eq!(checksum(run(&plan, &*field, &How::default(), &control).unwrap()), ask);
        }
        for &dp_launch in DpLaunch::ALL {
            for &scheme in ParallelScheme::ALL {
                let (mut runs, mut longest, mut most) = (0, Duration::ZERO, Launches::default());
                for pending in [64, 2048, 32768] {
                    for budget in [1, 128, 1 << 20] {
                        let how = How {
                            strategy: StrategyKind::Dp,
                            scheme,
                            dp_launch,
                            dp_budget: Some(budget),
                            pending_launches: Some(pending),
                            ..How::default()
                        };
                        for _ in 0..if brief() { 1 } else { 10 } {
                            let run = orthant::cuda::run(device, &plan, &*field, &how, &control).unwrap();
                            let launches = run.launches();
                            longest = longest.max(run.device_time().unwrap());
                            most.kernels = most.kernels.max(launches.kernels);
                            most.most_pending = most.most_pending.max(launches.most_pending);
                            most.refused = most.refused.max(launches.refused);
                            most.failed = most.failed.max(launches.failed);
                            most.overflowed = most.overflowed.max(launches.overflowed);
                            let what = format!("{} k={K} {scheme} {dp_launch}", request.workload);
                            assert_eq!(checksum(run), ask, "{what} budget {budget} pending {pending}");
                            runs += 1;
                        }
                    }
                }
                println!(
                    "| {} | {K} | {:?} | {scheme} | {dp_launch} | {runs} | {} | {} | {} | {} | {} | {:.1} | all equal |",
                    request.workload,
                    plan.domain().size(),
                    most.kernels,
                    most.most_pending,
                    most.refused,
                    most.failed,
                    most.overflowed,
                    longest.as_secs_f64() * 1e3
                );
            }
        }
    }
}

/// Nothing is lost, whatever the limits: ten runs of each over poisoned memory (every run has an array of its own, which
/// is poisoned before it), budgets from 1 to more than there is work, three limits of pending launches.
#[test]
fn dynamic_parallelism_loses_nothing() {
    let Some(device) = device() else { return };
    if scope() == Scope::Static {
        return println!("SKIPPED: without launches from the device");
    }
    println!(
        "| field | k | size | scheme | launch | runs | kernels | pending | refused | failed | overflowed | longest ms | cells |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    for &workload in WorkloadKind::ALL {
        for &k in workload.dims().iter().filter(|k| (2..=5).contains(*k)) {
            let ternary = workload.defaults(k).size.is_multiple_of(3);
            let (size, r) = match (k, ternary) {
                (2, false) => (512, 2),
                (2, true) => (243, 3),
                (3, false) => (64, 2),
                (3, true) => (81, 3),
                (4, false) => (24, 2),
                (4, true) => (27, 3),
                (_, false) => (12, 2),
                (_, true) => (9, 3),
            };
            let size = if brief() { size / 3 } else { size };
            let mut request = Request::new(workload);
            (request.dim, request.size) = (Some(k), Some(vec![size]));
            (request.g, request.r, request.b) = (Some(vec![r]), Some(vec![r]), Some(1));
            if workload == WorkloadKind::Kernel {
                request.source = Some(include_str!("../examples/kernels/shells.cuh").into());
            }
            request.workload.dispatch(k, Limits { device: &device, request: request.clone() }).unwrap();
        }
    }
}
