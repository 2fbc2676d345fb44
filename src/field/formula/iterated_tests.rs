//! Formulas that iterate: what they count, and random ones against the definition.

use crate::cell::WordsMut;
use crate::dimension::MAX_DIM;
use crate::field::definition::{Evaluate, Payload, Prove};
use crate::field::formula::field::open;
use crate::field::formula::iterated::IteratedField;
use crate::field::formula::lower::{LoweredFormula, lower};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::parse::FormulaResult;
use crate::field::formula::random::{Random, iteration};
use crate::field::formula::sampled::FormulaSamples;
use crate::field::formula::tests::{lattice, value_of};
use crate::field::formula::text::Formula;
use crate::field::mandelbrot;
use crate::field::options::{Arithmetic, FieldOptions, Precision};
use crate::geometry::{Domain, Region, Sample};
use crate::rule::Verdict;
use crate::simd::Isa;

/// The number of iterations at whole coordinates.
fn count<const K: usize>(text: &str, cell: [u32; K]) -> u32 {
    let formula = Formula::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let field = IteratedField::<K, f32>::new(&lattice([8; K]), Arithmetic::Plain, &formula).unwrap();
    let mut words = [u32::MAX];
    field.evaluate(&[cell], WordsMut::Narrow(&mut words));
    words[0]
}

#[test]
fn iterations_are_counted() {
    for (text, wanted) in [
        ("iterate q = q + x from q = 0 while q < 10", 4),
        ("iterate q = q + x from q = 0 while q < 10 cap 3", 3),
        ("param most = 2; iterate q = q from q = 0 while q < 1 cap most", 2),
        ("iterate q = q from q = 0 while q < 1", 512),
        ("iterate q = q from q = 9 while q < 1", 0),
        // All steps read what was before.
        ("iterate a = b, b = a + b from a = 0, b = 1 while b < 100", 11),
        ("iterate a = b, b = a from a = 0, b = 1 while a < 1 or b < 1 cap 9", 9),
        // A name hides an axis in the steps, and not in what it begins with.
        ("iterate y = y + 1 from y = y while y < 8", 3),
        // What begins as 0 becomes complex.
        ("iterate z = z + i from z = 0 while |z| < 6", 6),
        ("iterate z = w, w = z*i from z = 0, w = 1 while |z| < 0.5 and |w| < 3 cap 7", 1),
        ("iterate z = z^2 + x - 3 from z = 0 while |z| < 2 cap 20", 20),
        // NaN is below nothing.
        ("iterate q = sqrt(q) from q = -x while q < 1", 1),
        ("iterate q = sqrt(q) from q = -x while not q >= 1 cap 5", 5),
    ] {
        assert_eq!(count(text, [3, 5]), wanted, "{text}");
    }
}

/// In plain arithmetic the formula of the Mandelbrot set has the operations of the field.
#[test]
fn the_mandelbrot_set_is_a_formula() {
    let domain = Domain::new([97, 80], [[-2.1, 0.6], [-1.2, 1.3]], Sample::Centre).unwrap();
    let options = FieldOptions::default().arithmetic(Arithmetic::Plain).dwell(200);
    let text = "iterate z = z^2 + c from z = c while |z| < 2 cap 200";
    for precision in [Precision::F32, Precision::F64] {
        let options = options.clone().precision(precision);
        let built_in = mandelbrot::open(&domain, &options).unwrap();
        let formula = open(&domain, &options.source(text)).unwrap();
        let cells: Vec<[u32; 2]> = domain.region().cells().collect();
        let [found, wanted] = [formula, built_in].map(|field| {
            let mut words = vec![0; cells.len()];
            field.host().unwrap().evaluate(&cells, WordsMut::Narrow(&mut words));
            words
        });
        assert!(wanted.contains(&200) && wanted.contains(&3));
        assert!(found == wanted, "{precision}");
    }
}

/// A random formula that iterates: on every vector unit and in its proofs against the definition. How many regions are proven.
fn check_iteration<const K: usize, T: FormulaNumber>(seed: u64) -> usize {
    let mut random = Random::new(seed);
    let text = iteration(&mut random, K);
    let arithmetic = [Arithmetic::Fused, Arithmetic::Plain][random.below(2)];
    let window = random.window();
    let size: [u32; K] = std::array::from_fn(|axis| [[300, 1, 1], [23, 17, 1], [9, 8, 7]][K - 1][axis]);
    let domain = Domain::new(size, [window; K], Sample::Corner).unwrap();
    let what = format!("seed {seed}, k {K}, {} {arithmetic} over {window:?}: {text}", T::TYPE);
    let formula = Formula::parse(text.as_str()).unwrap_or_else(|error| panic!("{what}: {error}"));
    let FormulaResult::Iterations { states, cap } = formula.parsed.result else { panic!("{what}") };
    let mut field = IteratedField::<K, T>::new(&domain, arithmetic, &formula).unwrap();
    let samples = FormulaSamples::<K, T>::new(&domain, arithmetic);
    let LoweredFormula { dag, roots } = lower::<T>(&formula.parsed.dag, &formula.parsed.roots, arithmetic);
    let cells: Vec<[u32; K]> = domain.region().cells().collect();
    let by_definition = |cell: &[u32; K]| {
        let mut point = vec![T::ZERO; MAX_DIM + states];
        (0..K).for_each(|axis| point[axis] = samples.axes[axis].coordinate(cell[axis]));
        let of = |roots: &[u32], point: &[T]| -> Vec<T> {
            roots.iter().map(|&root| value_of::<T>(&dag, root, point)).collect()
        };
        let first = of(&roots[1 + states..], &point);
        point[MAX_DIM..].copy_from_slice(&first);
        let mut count = 0;
        while count < cap && of(&roots[..1], &point)[0] == T::ONE {
            let next = of(&roots[1..1 + states], &point);
            point[MAX_DIM..].copy_from_slice(&next);
            count += 1;
        }
        count
    };
    let wanted: Vec<u32> = cells.iter().map(by_definition).collect();
    for isa in Isa::ALL.iter().filter(|isa| isa.is_available()) {
        field.orbit.isa = *isa;
        let mut words = vec![0; cells.len()];
        field.evaluate(&cells, WordsMut::Narrow(&mut words));
        assert_eq!(words, wanted, "{what}, {isa}");
    }
    let mut proven = 0;
    for number in 0..16 {
        let corner: [u32; K] = std::array::from_fn(|axis| random.below(size[axis] as usize) as u32);
        let side = [1, 2, 4, 1000][number % 4];
        let extent = std::array::from_fn(|axis| (1 + random.below(side) as u32).min(size[axis] - corner[axis]));
        let region = Region { corner, extent };
        if let Verdict::Uniform(word) = field.prove(&region, Payload::default()) {
            proven += 1;
            let inside = |cell: &[u32; K]| (0..K).all(|j| (corner[j]..corner[j] + extent[j]).contains(&cell[j]));
            for (cell, &count) in cells.iter().zip(&wanted).filter(|(cell, _)| inside(cell)) {
                assert_eq!(u64::from(count), word, "{what}: {region:?} at {cell:?}");
            }
        }
    }
    proven
}

#[test]
fn random_iterations_are_what_they_say() {
    let only = std::env::var("ORTHANT_FUZZ_SEED").ok().and_then(|seed| seed.parse::<u64>().ok());
    let mut proven = 0;
    for seed in only.map_or(0..150, |seed| seed..seed + 1) {
        proven += check_iteration::<1, f32>(seed) + check_iteration::<2, f32>(seed);
        proven += if seed % 2 == 0 { check_iteration::<3, f32>(seed) } else { check_iteration::<2, f64>(seed) };
    }
    println!("{proven} regions proven");
    assert!(only.is_some() || proven > 1500, "{proven}");
}
