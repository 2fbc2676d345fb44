//! Runs that are told to end while kernels run.
//!
//! What has to be seen is a prepared plan that runs again, so this is the library over the stand-in: in a process of its own,
//! since a process finds its driver when it starts.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::thread::{scope, sleep};
use std::time::{Duration, Instant};

use orthant::backend::{DpLaunch, Part, Proofs};
use orthant::field::FieldOptions;
use orthant::geometry::SampleGrid;
use orthant::prelude::*;
use orthant::{Control, Error, field};

use crate::binary::{over, text};

/// The variable by which this binary knows itself in that process.
pub(super) const INSIDE: &str = "STANDIN_INSIDE";

pub(super) fn a_run_ends_in_the_midst_and_the_next_one_is_right(folder: &Path) {
    let output = over(folder, &std::env::current_exe().unwrap()).env(INSIDE, "1").output().unwrap();
    assert!(output.status.success(), "{:?}", text(&output));
    print!("{}", text(&output).0);
}

/// The part that runs over the stand-in.
pub(super) fn inside() {
    let gpu = Target::open(BackendKind::Cuda, 0).unwrap();
    let plane = [[-1.5, 0.5], [-1.0, 1.0]];
    // What is proven is over at once.
    let how = How::default().prove(Some(Proofs::No));
    let options = |dwell| FieldOptions::default().dwell(dwell);
    let ends_2d = |what: &str, domain, (g, b, dwell), rule, how: &How| {
        let plan = Plan::new(domain, Scheme::uniform(g, 2, b), CurveKind::Morton, rule).unwrap();
        ends(&gpu, what, &plan, &*field::mandelbrot::open(&domain, &options(dwell)).unwrap(), how);
    };
    // All of it inside of the set: one block looks at every cell.
    let set = Domain::new([512; 2], [[-0.1, 0.1]; 2], Sample::Corner).unwrap();
    ends_2d("a region", set, (1, 512, 512), RuleKind::Full, &how);
    let whole = Domain::new([768; 2], plane, Sample::Corner).unwrap();
    ends_2d("a leaf", whole, (1, 768, 512), RuleKind::Full, &how);
    // Thousands of blocks, most of which wait for a place. Orbits in the Mandelbrot set come back and are done early: in a
    // bulb every cell takes far longer than a block that has nothing to do any more.
    let bulb = Domain::new([48; 3], [[-0.1, 0.1]; 3], Sample::Corner).unwrap();
    let field = field::mandelbulb::open(&bulb, &options(384)).unwrap();
    let plan = Plan::new(bulb, Scheme::uniform(1, 2, 48), CurveKind::Morton, RuleKind::Full).unwrap();
    let narrow = how.clone().strategy(StrategyKind::Exhaustive).block([32, 1, 1]);
    ends(&gpu, "a crowd", &plan, &*field, &narrow);
    let small = Domain::new([224; 2], plane, Sample::Corner).unwrap();
    for &launch in DpLaunch::ALL {
        let how = how.clone().strategy(StrategyKind::Dp).dp_launch(launch);
        ends_2d(&format!("a cascade, {launch}"), small, (2, 2, 512), RuleKind::Border, &how);
    }
    sample(&gpu, &small);
}

/// A run ends in less than half of the time that all of it takes, and says nothing; the next one is the CPU's to the bit.
fn ends<const K: usize>(gpu: &Target, what: &str, plan: &Plan<K>, field: &dyn Field<K>, how: &How) {
    let truth = run(plan, field).unwrap().array().unwrap().checksum();
    let mut prepared = gpu.of().prepare(plan, field, &how.clone().poison(0x5a)).unwrap();
    let mut run = |control: &Control| {
        let start = Instant::now();
        let outcome = prepared.run(&Part::default(), control).map(drop);
        (start.elapsed(), outcome, catch_unwind(AssertUnwindSafe(|| prepared.checksum().unwrap())).ok().flatten())
    };
    let control = Control::default();
    let (part, outcome, found) = scope(|scope| {
        scope.spawn(|| {
            sleep(Duration::from_millis(50));
            control.cancel(2);
        });
        run(&control)
    });
    assert!(matches!(outcome, Err(Error::Interrupted(2))), "{what}: {outcome:?} after {part:?}");
    assert_eq!(found, None, "{what}: half a run has no cells");
    let (all, outcome, found) = run(&Control::default());
    assert!(outcome.is_ok(), "{what}: {outcome:?}");
    println!("{what}: {part:?} of {all:?}");
    assert!(part < all / 2, "{what}: told to end after 50 ms, ended after {part:?} of {all:?}");
    assert_eq!(found, Some(truth), "{what}");
}

/// A sample heeds its control, and the next one is taken.
fn sample(gpu: &Target, domain: &Domain<2>) {
    let field = field::mandelbrot::open(domain, &FieldOptions::default()).unwrap();
    let cancelled = Control::default();
    cancelled.cancel(15);
    let [here, there] = [gpu, &Target::cpu()].map(|target| {
        let grid = SampleGrid::new(domain.size(), 4096);
        let mut sample = target.of().sample(domain, &*field, grid, &How::default()).unwrap();
        assert!(matches!(sample(&cancelled), Err(Error::Interrupted(15))));
        sample(&Control::default()).unwrap()
    });
    assert_eq!(here, there);
}
