//! Trees of data: what building one costs beside a plain pass over the array, and what a look-up costs.
//!
//! `ORTHANT_BENCH_SIDE=1024` builds that of 1024³ cells, 2 GiB, instead of 256³. `ORTHANT_BENCH_TREE=X.tree.zarr` looks up cells of that
//! tree in 3-D, instead of one of a ball. Quoted by docs/results/data.md.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use ndarray::ArrayD;
use orthant::prelude::*;
use orthant::tree::BottomUp;

fn side() -> usize {
    std::env::var("ORTHANT_BENCH_SIDE").map_or(256, |side| side.parse().unwrap())
}

/// Three shells around the middle, on a ground of 0.
fn ball(side: usize) -> ArrayD<u16> {
    ArrayD::from_shape_fn(vec![side; 3], |at| {
        let square = |i: usize| (i as f64 - side as f64 / 2.0).powi(2);
        let radius = (square(at[0]) + square(at[1]) + square(at[2])).sqrt() / side as f64;
        [0.45, 0.4, 0.2].iter().filter(|&&shell| radius < shell).count() as u16
    })
}

fn plan(size: [u32; 3]) -> Plan<3> {
    let domain = Domain::new(size, size.map(|n| [0.0, n.into()]), Sample::Centre).unwrap();
    let scheme = Scheme::for_array(size, None, None, None, [false; 3]);
    Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap()
}

fn building(c: &mut Criterion) {
    let side = side();
    let array = ball(side);
    let field = ArrayField::new(array.view()).unwrap();
    let plan = plan([side as u32; 3]);
    let mut group = c.benchmark_group("trees");
    group.sample_size(10).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Bytes(2 * (side as u64).pow(3)));
    let cells = array.as_slice().unwrap();
    let pass = || {
        let ends = |cells: &[u16]| cells.iter().fold((u16::MAX, 0), |(a, b), &cell| (a.min(cell), b.max(cell)));
        let pieces: Vec<_> = std::thread::scope(|scope| {
            let threads = rayon_threads();
            let each = cells.len().div_ceil(threads);
            let running: Vec<_> = cells.chunks(each).map(|cells| scope.spawn(move || ends(cells))).collect();
            running.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        pieces
    };
    group.bench_function("least and greatest of all cells", |b| b.iter(|| black_box(pass())));
    group.bench_function(BenchmarkId::new("bottom-up", side), |b| {
        b.iter(|| BottomUp::new(&plan, &field).unwrap().tree().unwrap())
    });
    group.finish();
}

fn rayon_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

fn looking_up(c: &mut Criterion) {
    let tree = match std::env::var_os("ORTHANT_BENCH_TREE") {
        Some(path) => Tree::<3>::open(path).unwrap(),
        None => {
            let side = side();
            let array = ball(side);
            let field = ArrayField::new(array.view()).unwrap();
            BottomUp::new(&plan([side as u32; 3]), &field).unwrap().tree().unwrap()
        }
    };
    let mut state = 1u64;
    let mut next = |most: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) % u64::from(most)) as u32
    };
    let size = tree.plan().domain().size();
    let cells: Vec<[u32; 3]> = (0..1 << 20).map(|_| [next(size[0]), next(size[1]), next(size[2])]).collect();
    let mut group = c.benchmark_group("look-ups");
    group.sample_size(20).throughput(Throughput::Elements(cells.len() as u64));
    group.bench_function("word", |b| {
        b.iter(|| cells.iter().map(|&cell| tree.word(cell).unwrap()).fold(0u64, u64::wrapping_add))
    });
    println!("{} regions, {} bytes in memory", tree.len(), tree.bytes());
    group.finish();
}

criterion_group!(benches, building, looking_up);
criterion_main!(benches);
