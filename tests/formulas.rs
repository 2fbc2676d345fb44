//! Random formulas through the whole engine: what proofs fill is what every cell evaluates to.

use orthant::field::{Arithmetic, FieldOptions, Precision, formula};
use orthant::prelude::*;

#[path = "../src/field/formula/random.rs"]
mod random;

use random::{Random, iteration, long_text, text};

/// A random formula in K dimensions, divided under `certified` and evaluated cell by cell; how many regions were filled.
fn check<const K: usize>(seed: u64, precision: Precision) -> u64 {
    let mut random = Random::new(seed);
    let text = match seed % 4 {
        1 => iteration(&mut random, K),
        // With tapes that are worth shortening.
        2 => long_text(&mut random, K),
        _ => text(&mut random, K),
    };
    let arithmetic = Arithmetic::ALL[random.below(2)];
    // Large enough for short tapes now and then.
    let side = if seed % 16 == 2 { [2500, 80, 36, 18] } else { [64, 16, 8, 5] }[K - 1];
    let size = std::array::from_fn(|axis| side + axis as u32);
    let window = [random.window(); K];
    let options = FieldOptions::default().source(text.as_str()).precision(precision).arithmetic(arithmetic);
    let scheme = Scheme::uniform(1 + random.below(4) as u32, 2 + random.below(3) as u32, 1);
    let plan = Plan::builder(size).window(window).scheme(scheme).curve(CurveKind::Canonical).rule(RuleKind::Certified);
    let plan = plan.build().unwrap();
    let what = format!("seed {seed}, k {K}, {precision} {arithmetic} over {window:?} by {scheme:?}: {text}");
    let field = formula::open(plan.domain(), &options).unwrap_or_else(|error| panic!("{what}: {error}"));
    let how = || How::default().for_labels(field.labels()).unwrap();
    let run = |how: How| Run::new(&plan, &*field).how(how).start().unwrap_or_else(|error| panic!("{what}: {error}"));
    // The exhaustive run comes first, while no region has a short tape.
    let exhaustive = run(how().strategy(StrategyKind::Exhaustive));
    let divided = run(how());
    let [divided_cells, cells] = [&divided, &exhaustive].map(|run| run.array().unwrap());
    let differing = plan.domain().region().cells().find(|&cell| divided_cells.word(cell) != cells.word(cell));
    assert_eq!(differing, None, "{what}");
    divided.levels().iter().map(|level| level.counts.filled).sum()
}

/// 2000 formulas in f32 and 250 in f64. `ORTHANT_FORMULAS` says another number of those in f32, which are as many in each of
/// 1, 2, 3 and 4 dimensions, and `ORTHANT_FUZZ_SEED` repeats one.
#[test]
fn certified_runs_of_random_formulas_are_exhaustive_ones() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (only, formulas) = (number("ORTHANT_FUZZ_SEED"), number("ORTHANT_FORMULAS").unwrap_or(2000));
    let mut filled = 0;
    for seed in only.map_or(10_000..10_000 + formulas / 4, |seed| seed..seed + 1) {
        filled += check::<1>(seed, Precision::F32);
        filled += check::<2>(seed, Precision::F32);
        filled += check::<3>(seed, Precision::F32);
        filled += check::<4>(seed, Precision::F32);
        if seed % 2 == 0 {
            filled += check::<2>(seed, Precision::F64);
        }
    }
    println!("{filled} regions of {formulas} formulas filled, 0 wrong cells");
    assert!(only.is_some() || filled > 5 * formulas, "{filled}");
}
