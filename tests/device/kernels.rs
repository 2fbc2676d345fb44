//! Kernels compile for an old and a new architecture by turns: every field in every dimension, precision and arithmetic, with curves, block
//! shapes, cell types, orders and tables going round. Every eighth case becomes machine code. NVRTC only checks the others, which takes a
//! fifth of the time. Only machine code shows too much shared memory, and a function that is not there.
//! `ORTHANT_KERNELS=full` makes machine code of all cases, for both architectures: `.ci/long` does. Needs NVRTC, but no GPU.

use orthant::CellType;
use orthant::backend::Table;
use orthant::backend::{ExploreOrder, Pass};
use orthant::balance::{BalancerChoice, BalancerKind};
use orthant::cuda::{self, Nvrtc};
use orthant::field::{Arithmetic, Job, Open, Precision};
use orthant::prelude::*;
use orthant_lab::conformance::{self, Case};

const ARCHITECTURES: [&str; 2] = ["sm_75", "sm_120"];

/// The same, of which NVRTC makes no machine code.
const VIRTUAL_ARCHITECTURES: [&str; 2] = ["compute_75", "compute_120"];

/// True where `ORTHANT_KERNELS=full` asks for machine code of all kernels.
pub fn is_full() -> bool {
    match std::env::var("ORTHANT_KERNELS").as_deref() {
        Err(_) | Ok("brief") => false,
        Ok("full") => true,
        Ok(other) => panic!("ORTHANT_KERNELS={other}: brief or full is needed"),
    }
}

/// What the kernels of a case are compiled for.
fn architectures(number: usize) -> &'static [&'static str] {
    if is_full() {
        return &ARCHITECTURES;
    }
    // The architecture changes every eight cases, because the table changes one case in eight. Each sixteen cases choose another eighth for
    // machine code.
    let all = if (number + number / 16).is_multiple_of(8) { &ARCHITECTURES } else { &VIRTUAL_ARCHITECTURES };
    &all[number / 8 % 2..][..1]
}

/// Compiles the kernels of a case; curve, block shape, cell type and order go round with its number.
struct Compile<'a> {
    case: &'a Case,
    number: usize,
    compiler: Nvrtc,
}

impl Job for Compile<'_> {
    type Output = usize;

    fn run<const K: usize>(self, open: Open<K>) -> usize {
        const BLOCKS: [[u32; 3]; 7] =
            [[8, 8, 1], [16, 16, 1], [32, 32, 1], [64, 4, 1], [64, 8, 1], [32, 1, 1], [4, 4, 4]];
        let number = self.number;
        let table = if number % 8 == 7 { Table::Coordinates } else { Table::Scalars };
        let how = How::default().block(BLOCKS[number % 7]).cell(CellType::ALL[number / 3 % 2]).table(table);
        let balancer = BalancerKind::ALL[number / 4 % BalancerKind::ALL.len()].into();
        let balancer = (number % 4 == 3).then_some(BalancerChoice::Named(balancer));
        let pass = balancer.as_ref().map(|_| Pass::Deferred);
        let how = how.explore_order(ExploreOrder::ALL[number / 5 % 2]).balancer(balancer).pass(pass);
        let mut request = self.case.request.clone().curve(CurveKind::ALL[number % 3]);
        request.how = how.clone();
        // Hilbert does not serve every r.
        let plan = request.plan::<K>().or_else(|_| request.clone().curve(CurveKind::Morton).plan::<K>()).unwrap();
        let field = open(plan.domain(), &request.options().unwrap()).unwrap();
        cuda::compile_kernels(self.compiler, &plan, &*field, &how, architectures(number))
            .unwrap_or_else(|e| panic!("{e}"))
    }
}

pub fn every_specialisation_compiles(compiler: Nvrtc) {
    let mut cases = conformance::cases();
    // Every workload in every dimension, both precisions and arithmetics. The cases above have some of those that are data.
    const DATA: [FieldKind; 3] = [FieldKind::Mesh, FieldKind::Points, FieldKind::Array];
    for &workload in FieldKind::ALL.iter().filter(|workload| !DATA.contains(workload)) {
        for &k in workload.dims() {
            let side = if workload.defaults(k).size.is_multiple_of(3) { 9 } else { 8 };
            let size = if k > 4 { side.min(8) } else { 2 * side };
            let mut case = Case::new(workload, k, &[size], (2, if side == 9 { 3 } else { 2 }, 1), RuleKind::Border);
            if workload == FieldKind::Kernel {
                case.request.source = Some(include_str!("../../examples/kernels/shells.cuh").into());
            }
            cases.push(case);
        }
    }
    for workload in [FieldKind::Mandelbrot, FieldKind::Mandelbulb, FieldKind::Julibrot] {
        for (precision, arithmetic) in [(Precision::F32, Arithmetic::Plain), (Precision::F64, Arithmetic::Plain)] {
            let mut case = Case::new(workload, workload.dims()[0], &[16], (2, 2, 1), RuleKind::Border);
            let computed = &mut case.request.computed;
            (computed.precision, computed.arithmetic) = (Some(precision), Some(arithmetic));
            cases.push(case);
        }
    }
    let mut ship = Case::new(FieldKind::Kernel, 2, &[64], (2, 2, 1), RuleKind::Border);
    ship.request.source = Some(include_str!("../../examples/kernels/burning_ship.cuh").into());
    cases.push(ship);
    // Axes that differ in r: Morton drops those whose bits are spent. And codes of more than 32 bits.
    let mut uneven = Case::new(FieldKind::Mandelbrot, 2, &[64], (2, 2, 1), RuleKind::Border);
    uneven.request.computed.r = Some(vec![2, 4]);
    cases.push(uneven);
    cases.push(Case::new(FieldKind::Mandelbrot, 2, &[1 << 18], (2, 2, 1), RuleKind::Border));
    let cases = crate::gpu::share_of(cases);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(case) = cases.get(number) else { return };
                    let job = Compile { case, number, compiler: compiler.quick() };
                    let compiled = case.request.workload.dispatch(case.request.k(), job).unwrap();
                    count.fetch_add(compiled, std::sync::atomic::Ordering::Relaxed);
                }
            });
        }
    });
    let into = if is_full() { "machine code of both" } else { "machine code of one, or only checked" };
    println!("{} sources compiled for {ARCHITECTURES:?}, into {into}", count.into_inner());
}

/// The kernels that all plans share, and the balancers as they are measured.
pub fn common_kernels_compile(compiler: Nvrtc) {
    for architecture in ARCHITECTURES {
        cuda::compile_common(compiler.quick(), architecture).unwrap_or_else(|error| panic!("{error}"));
        cuda::compile_balancers(compiler.quick(), architecture).unwrap_or_else(|error| panic!("{error}"));
    }
}
