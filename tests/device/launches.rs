//! Launches on a GPU: stacks of grids, native grids, and those that the device makes, under their limits.

use std::time::Duration;

use orthant::backend::Pass;
use orthant::backend::{DpLaunch, Part, Stack};
use orthant::field::{FieldOptions, Job, Open};
use orthant::prelude::*;
use orthant::result::{Launches, RunCounts};
use orthant::{Control, Error, Mapping, Subdivision, field};
use orthant_lab::conformance::Scope;

use crate::gpu::share_of;

/// The throttle of stacks: as many launches in flight as allowed, never more, and the same cells.
pub fn stacks_are_throttled(gpu: &Target, scope: Scope) {
    // A grid that takes longer than to launch some; a tool that looks at every access has less to do.
    let side = if scope == Scope::Full { 160 } else { 40 };
    let window = [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]];
    let domain = Domain::new([side, side, side, 40], window, Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 4), CurveKind::Hilbert, RuleKind::Border).unwrap();
    let field = field::julibrot::open(&domain, &FieldOptions::default().dwell(256)).unwrap();
    let mut checksums = Vec::new();
    for (stack, max_kernels) in
        [(Stack::Folded, None), (Stack::Split, Some(1)), (Stack::Split, Some(5)), (Stack::Split, None)]
    {
        let how = How::default().strategy(StrategyKind::Exhaustive).stack(stack).max_kernels(max_kernels);
        let run = Run::new(&plan, &*field).how(how).on(gpu).start().unwrap();
        let launches = run.counts().launches;
        assert_eq!(launches.kernels, if stack == Stack::Folded { 1 } else { 40 });
        // A launch takes longer than launching the next ones, but for tools that wait for each.
        let most = if stack == Stack::Folded { 1 } else { max_kernels.unwrap_or(40) };
        let least = if scope == Scope::Full { most.min(5) } else { 1 };
        assert!((least.into()..=most.into()).contains(&launches.most_in_flight), "{launches:?}");
        checksums.push(run.array().unwrap().checksum());
    }
    assert!(checksums.windows(2).all(|pair| pair[0] == pair[1]));
}

/// Native grids: the same cells as folded ones, under every strategy that has them.
pub fn native_grids_are_stacks(gpu: &Target, scope: Scope) {
    let domain =
        Domain::new([20, 18, 17, 23], [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Border).unwrap();
    let field = field::julibrot::open(&domain, &FieldOptions::default().dwell(64)).unwrap();
    let cpu = run(&plan, &*field).unwrap();
    let (ask, every) = (cpu.array().unwrap().checksum(), {
        let how = How::default().strategy(StrategyKind::Exhaustive);
        Run::new(&plan, &*field).how(how).start().unwrap().array().unwrap().checksum()
    });
    let (mbr, in_place) = (Some(Mapping::Mbr), Some(Pass::InPlace));
    for (strategy, expected) in
        [(StrategyKind::Exhaustive, &every), (StrategyKind::Ask, &ask), (StrategyKind::Dp, &ask)]
    {
        if strategy == StrategyKind::Dp && scope == Scope::Static {
            continue;
        }
        let how = How::default().strategy(strategy).mapping(mbr).pass(in_place).poison(0x5a);
        let stacked = Run::new(&plan, &*field).how(how.stack(Stack::Grid3d)).on(gpu).start().unwrap();
        assert_eq!(&stacked.array().unwrap().checksum(), expected, "{strategy}");
        let launches = stacked.counts().launches;
        assert!(strategy != StrategyKind::Exhaustive || launches.kernels == 23, "{launches:?}");
    }
}

/// The throttle of dynamic parallelism: where every region is mixed the budget is spent, and never exceeded.
pub fn budgets_are_spent_and_kept(gpu: &Target, scope: Scope) {
    let domain = Domain::new([1024; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let options = FieldOptions::default().source(
        "__device__ u32 label(const Real (&x)[DIM], u32) {\n    \
         return u32(i32(x[0] * 512)) + u32(i32(x[1] * 512)) & 1;\n}\n",
    );
    let field = field::kernel::open(&domain, &options).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(8, 2, 1), CurveKind::Morton, RuleKind::Border).unwrap();
    for (dp_launch, budget) in [DpLaunch::Region, DpLaunch::Block]
        .into_iter()
        .flat_map(|launch| [1, 3, 64, 128].map(|budget| (launch, budget)))
    {
        let how = How::default().strategy(StrategyKind::Dp).keep(Keep::Counts).dp_launch(dp_launch);
        let run = Run::new(&plan, &*field).how(how.dp_budget(Some(budget))).on(gpu).start().unwrap();
        let launches = run.counts().launches;
        assert_eq!(launches.credits, u64::from(budget));
        assert!(launches.most_in_flight <= launches.credits, "{dp_launch}: {launches:?}");
        if scope == Scope::Full {
            assert_eq!(launches.most_in_flight, launches.credits, "{dp_launch}: {launches:?}");
            assert!(launches.refused > 0, "{dp_launch}: {launches:?}");
        }
        // Wherever the launches were made, every region was looked at.
        let leaves = run.levels().iter().map(|level| level.counts.leaves).sum::<u64>();
        assert_eq!(u128::from(leaves), plan.levels()[plan.levels().len() - 1].regions(), "{dp_launch}: {launches:?}");
    }
}

/// Dynamic parallelism under every limit: one workload in one dimension, all launches and schemes.
struct Limits<'a> {
    gpu: &'a Target,
    times: u32,
    request: Request,
}

impl Job for Limits<'_> {
    type Output = ();

    fn run<const K: usize>(self, open: Open<K>) {
        let Self { gpu, times, request } = self;
        let plan = request.plan::<K>().unwrap();
        let field = open(plan.domain(), &request.options().unwrap()).unwrap();
        let checksum = |run: Subdivision<K>| run.array().unwrap().checksum();
        let ask = checksum(Run::new(&plan, &*field).on(gpu).start().unwrap());
        if field.host().is_some() {
            assert_eq!(checksum(run(&plan, &*field).unwrap()), ask);
        }
        for &dp_launch in DpLaunch::ALL {
            for mapping in Mapping::OF_THE_PAPERS {
                let (mut runs, mut longest, mut most) = (0, Duration::ZERO, Launches::default());
                for (pending, passes) in [(64, 1), (2048, 3), (32768, 1)] {
                    for (budget, pass) in
                        Pass::ALL[..passes].iter().flat_map(|pass| [1, 128, 1 << 20].map(|budget| (budget, *pass)))
                    {
                        let how = How::default()
                            .strategy(StrategyKind::Dp)
                            .mapping(Some(mapping))
                            .pass(Some(pass))
                            .dp_launch(dp_launch);
                        let how = how.dp_budget(Some(budget)).pending_launches(Some(pending)).poison(0x5a);
                        let mut prepared = gpu.of().prepare(&plan, &*field, &how).unwrap();
                        for _ in 0..times {
                            prepared.run(&Part::default(), &Control::default()).unwrap();
                            let RunCounts { launches, times, .. } = prepared.counts().unwrap();
                            longest = longest.max(times.device.unwrap());
                            most.kernels = most.kernels.max(launches.kernels);
                            most.most_pending = most.most_pending.max(launches.most_pending);
                            most.refused = most.refused.max(launches.refused);
                            most.failed = most.failed.max(launches.failed);
                            most.overflowed = most.overflowed.max(launches.overflowed);
                            let what = format!("{} k={K} {mapping} {dp_launch}", request.workload);
                            let found = prepared.checksum().unwrap();
                            assert_eq!(found.as_ref(), Some(&ask), "{what} {pass} budget {budget} pending {pending}");
                            runs += 1;
                        }
                    }
                }
                println!(
                    "| {} | {K} | {:?} | {mapping} | {dp_launch} | {runs} | {} | {} | {} | {} | {} | {:.1} | all equal |",
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

/// Nothing is lost, whatever the limits: two runs of each over poisoned memory, budgets from 1 to more than there is work, three limits of pending launches.
pub fn dynamic_parallelism_loses_nothing(gpu: &Target, scope: Scope) {
    println!(
        "| field | k | size | scheme | launch | runs | kernels | pending | refused | failed | overflowed | longest ms | cells |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|---|---|");
    // They are data.
    let others = [FieldKind::Mesh, FieldKind::Points, FieldKind::Array];
    for workload in share_of(FieldKind::ALL.iter().copied().filter(|workload| !others.contains(workload)).collect()) {
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
            let (size, times) = if scope == Scope::Full { (size, 2) } else { (size / 3, 1) };
            let mut request = Request::new(workload).dim(Some(k)).size(Some(vec![size])).scheme(r, r, 1);
            if workload == FieldKind::Kernel {
                request.source = Some(include_str!("../../examples/kernels/shells.cuh").into());
            }
            request.workload.dispatch(k, Limits { gpu, times, request: request.clone() }).unwrap();
        }
    }
}

/// The driver's own word for how many launches from the device may be pending.
fn pending_limit() -> usize {
    use cudarc::driver::{CudaContext, sys};
    let context = CudaContext::new(0).unwrap();
    context.bind_to_thread().unwrap();
    let limit = sys::CUlimit_enum::CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT;
    let mut launches = 0;
    // SAFETY: a context is current, and the address is that of a local.
    unsafe { sys::cuCtxGetLimit(&mut launches, limit) }.result().unwrap();
    launches
}

/// What a run sets on the device is as before when it is over.
pub fn the_pending_limit_is_put_back(gpu: &Target, _: Scope) {
    let domain = Domain::new([256; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Morton, RuleKind::Border).unwrap();
    let field = field::mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
    let before = pending_limit();
    for pending in [64, 8192] {
        let how = How::default().strategy(StrategyKind::Dp).pending_launches(Some(pending));
        let mut prepared = gpu.of().prepare(&plan, &*field, &how).unwrap();
        prepared.run(&Part::default(), &Control::default()).unwrap();
        assert_eq!(pending_limit(), before);
        let control = Control::default();
        control.cancel(2);
        assert!(matches!(prepared.run(&Part::default(), &control), Err(Error::Interrupted(2))));
        assert_eq!(pending_limit(), before);
    }
}
