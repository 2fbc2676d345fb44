//! Exploring regions: the scattered order with its early exit against the papers' full scan, by dimension and side.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use orthant::prelude::*;

/// One pass over regions of one level: what subdividing a domain costs before anything is written.
struct OneLevel<'a> {
    c: &'a mut Criterion,
    request: Request,
    side: u32,
}

impl Job for OneLevel<'_> {
    type Output = ();

    fn run<const K: usize>(self, open: Open<K>) {
        let Self { c, mut request, side } = self;
        let n = request.size.as_ref().expect("the benches below give one")[0];
        // Sides of n/g cells, and B as large: level 0 is the last.
        (request.g, request.b) = (Some(vec![n / side]), Some(side));
        let plan = request.plan::<K>().unwrap();
        let workload = open(plan.domain(), &request.options().unwrap()).unwrap();
        let mut group = c.benchmark_group(format!("explore {} n={n}", request.workload));
        group.sample_size(15).measurement_time(Duration::from_secs(3));
        for &order in ExploreOrder::ALL {
            let how = How { keep: Keep::Counts, order, ..How::default() };
            let explored = run(&plan, &*workload, &how, &Control::default()).unwrap().totals();
            println!(
                "{} side {side}, {order}: {} of {} regions uniform, {} cells, {} iterations",
                request.workload, explored.filled, explored.regions, explored.explored_cells, explored.label_sum
            );
            group.throughput(Throughput::Elements(explored.regions));
            group.bench_function(BenchmarkId::new(order.name(), format!("side {side}")), |b| {
                b.iter(|| run(&plan, &*workload, &how, &Control::default()).unwrap())
            });
        }
    }
}

fn explore(c: &mut Criterion) {
    for (workload, n, dwell) in [
        (WorkloadKind::Mandelbrot, 2048, Some(512)),
        (WorkloadKind::Mandelbulb, 128, Some(64)),
        (WorkloadKind::Julibrot, 48, Some(64)),
        (WorkloadKind::Simplex, 128, None),
    ] {
        for side in [4, 16] {
            let mut request = Request::new(workload);
            (request.size, request.dwell) = (Some(vec![n]), dwell);
            request.dim = (workload == WorkloadKind::Simplex).then_some(3);
            request.explore = Some(ExploreRule::Border);
            workload.dispatch(request.dim(), OneLevel { c, request, side }).unwrap();
        }
    }
}

criterion_group!(benches, explore);
criterion_main!(benches);
