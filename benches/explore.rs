//! Exploring regions: the scattered order with its early exit against the papers' full scan, by dimension and side.

use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use orthant::backend::ExploreOrder;
use orthant::field::{Job, Open};
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
        let n = request.computed.size.as_ref().expect("the benches below give one")[0];
        // Sides of n/g cells, and B as large: level 0 is the last.
        request = request.g(Some(vec![n / side])).b(Some(vec![side]));
        let plan = request.plan::<K>().unwrap();
        let field = open(plan.domain(), &request.options().unwrap()).unwrap();
        let mut group = c.benchmark_group(format!("explore {} n={n}", request.workload));
        group.sample_size(15).measurement_time(Duration::from_secs(3));
        for &order in ExploreOrder::ALL {
            let how = How::default().keep(Keep::Counts).explore_order(order);
            let explored = Run::new(&plan, &*field).how(how.clone()).start().unwrap().totals();
            println!(
                "{} side {side}, {order}: {} of {} regions uniform, {} cells, {} iterations",
                request.workload, explored.filled, explored.regions, explored.explored_cells, explored.label_sum
            );
            group.throughput(Throughput::Elements(explored.regions));
            group.bench_function(BenchmarkId::new(order.name(), format!("side {side}")), |b| {
                b.iter(|| Run::new(&plan, &*field).how(how.clone()).start().unwrap())
            });
        }
    }
}

fn explore(c: &mut Criterion) {
    for (workload, n, dwell) in [
        (FieldKind::Mandelbrot, 2048, Some(512)),
        (FieldKind::Mandelbulb, 128, Some(64)),
        (FieldKind::Julibrot, 48, Some(64)),
        (FieldKind::Simplex, 128, None),
    ] {
        for side in [4, 16] {
            let dim = (workload == FieldKind::Simplex).then_some(3);
            let request =
                Request::new(workload).size(Some(vec![n])).dim(dim).dwell(dwell).explore(Some(RuleKind::Border));
            workload.dispatch(request.k(), OneLevel { c, request, side }).unwrap();
        }
    }
}

criterion_group!(benches, explore);
criterion_main!(benches);
