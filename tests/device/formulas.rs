//! Formulas on a GPU, against the CPU, to the bit; and how they compile.

use std::time::Instant;

use orthant::cuda::{self, Nvrtc};
use orthant::field::{Arithmetic, FieldOptions, Precision, formula};
use orthant::prelude::*;
use orthant::result::LevelCounts;
use orthant::{Mapping, Subdivision};
use orthant_lab::conformance::Scope;

use crate::kernels;

#[path = "../../src/field/formula/random.rs"]
mod random;

use random::Random;

fn counts<const K: usize>(run: &Subdivision<K>) -> Vec<[u64; 3]> {
    let of = |LevelCounts { subdivided, filled, leaves, .. }| [subdivided, filled, leaves];
    run.levels().iter().map(|level| of(level.counts)).collect()
}

/// A random formula in K dimensions, divided and cell by cell; the regions that were proven.
fn check<const K: usize>(gpu: &Target, number: u64) -> u64 {
    let seed = 80_000 + number;
    let mut random = Random::new(seed);
    let text = if number % 5 == 2 { random::iteration(&mut random, K) } else { random::text(&mut random, K) };
    let window = [random.window(); K];
    let size = std::array::from_fn(|axis| [5000, 150, 40, 17][K - 1] + axis as u32);
    let precision = Precision::ALL[usize::from(number % 3 == 2)];
    let arithmetic = Arithmetic::ALL[number as usize / 2 % 2];
    let options = FieldOptions::default().source(text.as_str()).precision(precision).arithmetic(arithmetic);
    let plan = Plan::builder(size).window(window).scheme(Scheme::uniform(3, 2, 1)).rule(RuleKind::Certified);
    let plan = plan.build().unwrap();
    let field = formula::open(plan.domain(), &options).unwrap();
    let what = format!("seed {seed}, k {K}, {precision} {arithmetic} over {window:?}: {text}");
    let hows = [
        How::default().mapping(Some(Mapping::Stream)),
        How::default().mapping(Some(Mapping::Sbr)),
        How::default().strategy(StrategyKind::Exhaustive),
    ];
    // One of them a formula: each takes the compiler a time.
    let how = hows[number as usize % 3].clone().for_labels(field.labels()).unwrap();
    let exhaustive = how.tuning.strategy == StrategyKind::Exhaustive;
    // What is a GPU's own is none of the CPU's business.
    let alone = if exhaustive { how.clone() } else { How::default().for_labels(field.labels()).unwrap() };
    let here = Run::new(&plan, &*field).how(alone).start().unwrap();
    let there = Run::new(&plan, &*field).how(how).on(gpu).start().unwrap();
    assert!(there.materialise(None).unwrap() == here.materialise(None).unwrap(), "{what}");
    assert_eq!(counts(&there), counts(&here), "{what}");
    here.levels().iter().map(|level| level.counts.filled).sum()
}

/// Random ones in 1 to 4 dimensions, in either precision and arithmetic.
pub fn random_formulas_have_the_cpus_cells(gpu: &Target, scope: Scope) {
    let start = Instant::now();
    let count = if scope == Scope::Full { 48 } else { 8 };
    let filled: u64 = (0..count)
        .map(|number| match number % 4 {
            0 => check::<1>(gpu, number),
            1 => check::<2>(gpu, number),
            2 => check::<3>(gpu, number),
            _ => check::<4>(gpu, number),
        })
        .sum();
    println!("{count} formulas, {filled} regions filled, {:.1} s", start.elapsed().as_secs_f64());
    assert!(filled > 0);
}

/// A formula that is too long to be lines, by every strategy: the CPU's cells and counts, and tapes of regions where proofs alone decide.
fn check_long<const K: usize>(gpu: &Target, scope: Scope, size: [u32; K], text: &str) {
    let strategy = |kind| How::default().strategy(kind);
    let mut hows = vec![
        How::default().mapping(Some(Mapping::Stream)),
        How::default().mapping(Some(Mapping::Sbr)),
        How::default().mapping(Some(Mapping::Mbr)),
        strategy(StrategyKind::Exhaustive),
    ];
    // Sanitizers that cannot follow launches from the device go without them.
    if scope != Scope::Static {
        hows.push(strategy(StrategyKind::Dp));
    }
    let plan = Plan::builder(size).window([[-1.0, 1.0]; K]).scheme(Scheme::uniform(4, 2, 2)).rule(RuleKind::Certified);
    let plan = plan.build().unwrap();
    for precision in Precision::ALL {
        let field = formula::open(plan.domain(), &FieldOptions::default().source(text).precision(*precision)).unwrap();
        let settled = |how: How| how.for_labels(field.labels()).unwrap();
        let here = Run::new(&plan, &*field).how(settled(How::default())).start().unwrap();
        for how in &hows {
            let what = format!("k {K}, {precision}, {how:?}");
            let exhaustive = how.tuning.strategy == StrategyKind::Exhaustive;
            let there = Run::new(&plan, &*field).how(settled(how.clone())).on(gpu).start().unwrap();
            assert!(there.materialise(None).unwrap() == here.materialise(None).unwrap(), "{what}");
            assert!(exhaustive || counts(&there) == counts(&here), "{what}");
            assert_eq!(there.counts().launches.tapes > 0, !exhaustive, "{what}");
        }
    }
}

/// Least distances to many points, of which a region needs few.
pub fn long_formulas_have_the_cpus_cells(gpu: &Target, scope: Scope) {
    check_long(gpu, scope, [700, 500], &long(1000));
    check_long(
        gpu,
        scope,
        [64, 50, 70],
        &long(600).replace("sin(s599) < 0.3", "classes(s599 + z^2, 0.02, 0.05, 0.2, 0.5)"),
    );
}

/// sin, cos, exp and ln of floats of every size and sign: one in 32, or all of them with `ORTHANT_EVERY_FLOAT`.
pub fn functions_are_the_cpus(gpu: &Target, scope: Scope) {
    let bits = match (std::env::var_os("ORTHANT_EVERY_FLOAT"), scope) {
        (Some(_), _) => 23,
        (None, Scope::Full) => 18,
        (None, _) => 12,
    };
    let mut cells = 0;
    for function in ["sin(x)", "cos(x)", "exp(x)", "ln(x)"] {
        for exponent in -126..127 {
            let low = f64::from(exponent).exp2();
            for window in [[low, 2.0 * low], [-2.0 * low, -low]] {
                // The floats between two powers of two have one distance, and so have the samples.
                let plan = Plan::builder([1 << bits]).window([window]).sample(Sample::Corner).build().unwrap();
                let field = formula::open(plan.domain(), &FieldOptions::default().source(function)).unwrap();
                let how = How::default().strategy(StrategyKind::Exhaustive).for_labels(field.labels()).unwrap();
                let here = Run::new(&plan, &*field).how(how.clone()).start().unwrap();
                let there = Run::new(&plan, &*field).how(how).on(gpu).start().unwrap();
                assert!(there.array().unwrap() == here.array().unwrap(), "{function} over {window:?}");
                cells += 1u64 << bits;
            }
        }
    }
    println!("{cells} values of functions, all equal");
}

/// A long formula: least distances to so many points.
fn long(points: usize) -> String {
    let [x, y] = [37, 41].map(|of| move |n: usize| (n % of) as f64 / (of - 1) as f64 * 2.0 - 1.0);
    let point = |n: usize| format!("let s{n} = min({}, |x - {}| + |y - {}|);\n", before(n), x(n), y(n));
    (0..points).map(point).collect::<String>() + &format!("sin(s{}) < 0.3", points - 1)
}

fn before(n: usize) -> String {
    if n == 0 { "9".into() } else { format!("s{}", n - 1) }
}

/// Formulas of the sizes up to which they are lines, and one that is a loop. With `ORTHANT_KERNELS=full` NVRTC optimises them as for a
/// user, and the table says how long a user waits.
pub fn long_formulas_compile(compiler: Nvrtc) {
    let as_for_users = kernels::is_full();
    let (compiler, architecture) = if as_for_users { (compiler, "sm_90") } else { (compiler.quick(), "compute_90") };
    println!("| text | sources | s{} |\n|---|---|---|", if as_for_users { "" } else { " to be checked" });
    let texts = [
        ("12 clauses", "x^2 + y^2 < 0.8 and sin(20*x) < y".to_owned()),
        ("65", long(10)),
        ("995", long(165)),
        ("an iteration", "iterate z = z^2 + c from z = 0 while |z| < 2".into()),
    ];
    for (name, text) in texts.into_iter().chain([("6000, a loop", long(1000))]) {
        let plan = Plan::builder([64; 2]).window([[-1.0, 1.0]; 2]).rule(RuleKind::Certified).build().unwrap();
        let field = formula::open(plan.domain(), &FieldOptions::default().source(text)).unwrap();
        let start = Instant::now();
        let compiled = cuda::compile_kernels(compiler, &plan, &*field, &How::default(), &[architecture]);
        let sources = compiled.unwrap_or_else(|error| panic!("{error}"));
        println!("| {name} | {sources} | {:.2} |", start.elapsed().as_secs_f64());
    }
}
