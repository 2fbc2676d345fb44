//! Subdividing against evaluating every cell: the Mandelbrot set at n = 4096, D = 512, {32, 2, 8}.
//!
//! Four questions, each a pair of times in one run: what ASK gains over Exhaustive with the same vectorised inner loop;
//! the same with the papers' scalar loop; what the other strategies add; and what subdividing costs beside evaluating
//! exactly the cells it asks for (`the same cells`: recorded once, replayed in the same batches). The iterations that
//! each spends are printed first: their ratio is what a subdivision that costs nothing would gain.

use std::sync::Mutex;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use orthant::field::{Evaluate, FieldOptions, Labels, Precision};
use orthant::prelude::*;
use orthant::{Mapping, WordsMut, field};
use rayon::prelude::*;

const DWELL: u32 = 512;

/// Cells per axis: few where it only has to run.
fn side() -> u32 {
    if std::env::args().any(|argument| argument == "--test") { 512 } else { 4096 }
}

/// The loop of the papers: one cell at a time, a test before every step, products and sums rounded separately.
struct PlainLoop {
    low: [f32; 2],
    pitch: [f32; 2],
}

impl Field<2> for PlainLoop {
    fn labels(&self) -> Labels {
        Labels::iterations(DWELL)
    }

    fn host(&self) -> Option<&dyn Evaluate<2>> {
        Some(self)
    }
}

impl Evaluate<2> for PlainLoop {
    fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
        for (cell, label) in cells.iter().zip(labels.narrow()) {
            let [cx, cy] = std::array::from_fn(|j| cell[j] as f32 * self.pitch[j] + self.low[j]);
            let (mut x, mut y, mut dwell) = (cx, cy, 0);
            while dwell < DWELL && x * x + y * y < 4.0 {
                (x, y) = (x * x - y * y + cx, (x + x) * y + cy);
                dwell += 1;
            }
            *label = dwell;
        }
    }
}

/// Writes down what it is asked for.
struct Recorder<'a> {
    field: &'a dyn Field<2>,
    batches: Mutex<Vec<Vec<[u32; 2]>>>,
}

impl Field<2> for Recorder<'_> {
    fn labels(&self) -> Labels {
        self.field.labels()
    }

    fn host(&self) -> Option<&dyn Evaluate<2>> {
        Some(self)
    }
}

impl Evaluate<2> for Recorder<'_> {
    fn evaluate(&self, cells: &[[u32; 2]], labels: WordsMut<'_>) {
        self.batches.lock().unwrap().push(cells.to_vec());
        self.field.host().unwrap().evaluate(cells, labels);
    }
}

fn time(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, plan: &Plan<2>, field: &dyn Field<2>, how: How) -> u64 {
    let once = || Run::new(plan, field).how(how.clone()).start().unwrap();
    let iterations = once().totals().label_sum;
    println!("{name}, {} {}: {iterations} iterations", how.tuning.strategy, how.tuning.mapping());
    let id = BenchmarkId::new(name, format!("{} {}", how.tuning.strategy, how.tuning.mapping()));
    group.bench_function(id, |b| b.iter(once));
    iterations
}

fn ask_vs_exhaustive(c: &mut Criterion) {
    let n = side();
    let domain = Domain::new([n; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(32, 2, 8), CurveKind::Morton, RuleKind::Border).unwrap();
    let options = |precision| FieldOptions::default().dwell(DWELL).precision(precision);
    let single = field::mandelbrot::open(&domain, &options(Precision::F32)).unwrap();
    let double = field::mandelbrot::open(&domain, &options(Precision::F64)).unwrap();
    let plain = PlainLoop { low: [-1.5, -1.0], pitch: [2.0 / n as f32; 2] };
    let (exhaustive, ask) = (StrategyKind::Exhaustive, StrategyKind::Ask);

    let mut group = c.benchmark_group(format!("mandelbrot {n}"));
    group.throughput(Throughput::Elements(u64::from(n).pow(2))).sample_size(20);
    for (name, field) in [("f32", &*single), ("f64", &*double), ("plain loop", &plain as &dyn Field<2>)] {
        group.sample_size(if name == "plain loop" { 10 } else { 20 });
        let all = time(&mut group, name, &plan, field, How::default().strategy(exhaustive));
        let asked = time(&mut group, name, &plan, field, How::default().strategy(ask));
        println!("{name}: {:.2} times fewer iterations", all as f64 / asked as f64);
    }
    group.sample_size(20);
    for strategy in [ask, StrategyKind::Dp] {
        for mapping in Mapping::OF_THE_PAPERS {
            if (strategy, mapping) != (ask, Mapping::Sbr) {
                time(&mut group, "f32", &plan, &*single, How::default().strategy(strategy).mapping(Some(mapping)));
            }
        }
    }

    for (name, field) in [("f32", &*single), ("plain loop", &plain)] {
        let recorder = Recorder { field, batches: Mutex::default() };
        run(&plan, &recorder).unwrap();
        let batches = recorder.batches.into_inner().unwrap();
        let host = field.host().unwrap();
        group.bench_function(BenchmarkId::new(name, "the same cells"), |b| {
            b.iter(|| {
                batches.par_iter().for_each_init(Vec::new, |labels, cells| {
                    labels.clear();
                    labels.resize(cells.len(), 0);
                    host.evaluate(cells, WordsMut::Narrow(labels));
                })
            })
        });
    }
}

criterion_group!(benches, ask_vs_exhaustive);
criterion_main!(benches);
