//! Short tapes against whole ones: the same verdicts and the same cells, to the bit, however regions are divided and enlarged.

use crate::cell::WordsMut;
use crate::field::definition::{Evaluate, Field, Payload, Prove};
use crate::field::formula::field::FormulaField;
use crate::field::formula::forest::{ForestLimits, FormulaForest};
use crate::field::formula::number::FormulaNumber;
use crate::field::formula::random::{Random, long_text, text};
use crate::field::formula::text::Formula;
use crate::field::options::Arithmetic;
use crate::geometry::{Domain, Level, Region, Sample, Scheme};
use crate::rule::{RuleKind, Verdict};
use crate::simd::Isa;

/// Equal zeros of both signs, and NaN, where a minimum or maximum chooses. Nothing is proven of a division by 0, so that every
/// region gets a tape.
const TIES: [&str; 4] = [
    "1/min(0*|x|, -(0*|x|)) < x",
    "1/max(-(0*|x|), 0*|x|) > x",
    "x + 1/max(0*|x|, -(0*|x|)) < 0 or 1/min(-(0*|x|), 0*|x|) < x",
    "1/min(0*|x|, max(-(0*|x|), sqrt(x - 0.5))) < max(sqrt(x), x)",
];

/// What was seen of random formulas.
#[derive(Debug, Default)]
struct SeenForest {
    formulas: usize,
    regions: usize,
    proven: usize,
    nodes: usize,
    /// Formulas with two labels.
    both: usize,
}

fn labels<const K: usize, T: FormulaNumber>(field: &FormulaField<K, T>, cells: &[[u32; K]]) -> Vec<u64> {
    let (mut narrow, mut wide) = (vec![0; cells.len()], vec![0; cells.len()]);
    if field.labels().kind().bytes() == 8 {
        field.evaluate(cells, WordsMut::Wide(&mut wide));
    } else {
        field.evaluate(cells, WordsMut::Narrow(&mut narrow));
        wide = narrow.iter().map(|&word| word.into()).collect();
    }
    wide
}

/// A field without a forest, and one whose forest grows wherever it can.
fn fields<const K: usize, T: FormulaNumber>(
    domain: &Domain<K>,
    arithmetic: Arithmetic,
    formula: &Formula,
) -> [FormulaField<K, T>; 2] {
    [0, usize::MAX].map(|nodes| {
        let mut field = FormulaField::<K, T>::new(domain, arithmetic, formula).unwrap();
        let limits = ForestLimits { few_clauses: 0, least_side: 0, nodes, clauses: usize::MAX };
        field.forest = FormulaForest::new(domain.size(), field.value.tape.clauses.len(), limits);
        field
    })
}

/// A formula divided under a rule by both fields: verdicts of all regions that a run would ask about, and all cells.
fn check_forest<const K: usize, T: FormulaNumber>(seed: u64, seen: &mut SeenForest) {
    let mut random = Random::new(seed);
    let text = match TIES.get(seed as usize) {
        Some(ties) => (*ties).to_owned(),
        None if seed.is_multiple_of(3) => text(&mut random, K),
        None => long_text(&mut random, K),
    };
    let arithmetic = [Arithmetic::Fused, Arithmetic::Plain][random.below(2)];
    let window = random.window();
    let side = [300, 40, 14, 7][K - 1];
    let size: [u32; K] = std::array::from_fn(|_| side + random.below(side as usize / 2) as u32);
    let sample = [Sample::Corner, Sample::Centre][random.below(2)];
    let domain = Domain::new(size, [window; K], sample).unwrap();
    let g: [u32; K] = std::array::from_fn(|_| 1 + random.below(4) as u32);
    let r: [u32; K] = std::array::from_fn(|_| 2 + random.below(3) as u32);
    let rule = [RuleKind::Certified, RuleKind::Closed, RuleKind::Full][random.below(3)];
    let formula = Formula::parse(text.as_str()).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    let isas: Vec<Isa> = Isa::ALL.iter().copied().filter(|isa| isa.is_available()).collect();
    let what = format!(
        "seed {seed}, k {K}, {} {arithmetic} {rule} over {window:?}, {size:?} by {g:?}, {r:?}: {text}",
        T::TYPE
    );
    let [mut whole, mut short] = fields::<K, T>(&domain, arithmetic, &formula);
    whole.value.isa = Isa::Portable;
    short.value.isa = isas[random.below(isas.len())];

    let levels = Scheme { g, r, b: [1; K] }.levels(size);
    let regions = |level: &Level<K>| -> Vec<Region<K>> {
        Region { corner: [0; K], extent: level.grid }.cells().map(|at| level.region(at)).collect()
    };
    let cells: Vec<[u32; K]> = domain.region().cells().collect();
    let wanted = labels(&whole, &cells);
    let index = |cell: [u32; K]| (0..K).rev().fold(0, |index, axis| index * size[axis] as usize + cell[axis] as usize);
    let mut asked: Vec<Region<K>> = regions(&levels[0]);
    for depth in 0..levels.len().min(3) {
        let boxes: Vec<Region<K>> = asked.iter().map(|region| rule.deciding(region, size).region).collect();
        let payloads = vec![Payload::default(); boxes.len()];
        let mut verdicts = vec![Verdict::Mixed; boxes.len()];
        // As a run hands them over, or one by one.
        let each = [1, 5, 16, 256][random.below(4)];
        for (boxes, verdicts) in boxes.chunks(each).zip(verdicts.chunks_mut(each)) {
            short.prove_all(boxes, &payloads[..boxes.len()], verdicts);
        }
        let mut mixed = Vec::new();
        for ((region, deciding), verdict) in asked.iter().zip(&boxes).zip(&verdicts) {
            assert_eq!(*verdict, whole.prove(deciding, Payload::default()), "{what}: {region:?}");
            seen.regions += 1;
            match verdict {
                Verdict::Uniform(word) => {
                    seen.proven += 1;
                    for cell in deciding.cells() {
                        assert_eq!(wanted[index(cell)], *word, "{what}: {region:?} at {cell:?}");
                    }
                }
                _ => mixed.push(*region),
            }
        }
        let Some(below) = levels.get(depth + 1) else { break };
        asked = regions(below);
        asked.retain(|region| mixed.iter().any(|above| above.contains(region)));
        asked.truncate(400);
    }
    seen.nodes += short.forest.nodes();
    assert_eq!(whole.forest.nodes(), 0);
    for isa in isas {
        short.value.isa = isa;
        assert_eq!(labels(&short, &cells), wanted, "{what}, {isa}");
    }
    // In another order, so that runs of one tape are short.
    let some: Vec<[u32; K]> = (0..500).map(|_| cells[random.below(cells.len())]).collect();
    let there: Vec<u64> = some.iter().map(|&cell| wanted[index(cell)]).collect();
    assert_eq!(labels(&short, &some), there, "{what}");
    seen.both += usize::from(wanted.iter().any(|word| *word != wanted[0]));
    seen.formulas += 1;
}

/// 200 formulas; `ORTHANT_FORMULAS` says another number, and `ORTHANT_FUZZ_SEED` repeats one in all dimensions.
#[test]
fn short_tapes_have_the_verdicts_and_cells_of_whole_ones() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let only = number("ORTHANT_FUZZ_SEED");
    let seeds = only.map_or(0..number("ORTHANT_FORMULAS").unwrap_or(200) / 4, |seed| seed..seed + 1);
    let mut seen = SeenForest::default();
    for seed in seeds {
        check_forest::<1, f32>(seed, &mut seen);
        check_forest::<2, f32>(seed, &mut seen);
        check_forest::<3, f32>(seed, &mut seen);
        match seed % 8 {
            0 => check_forest::<2, f64>(seed, &mut seen),
            1 => check_forest::<3, f64>(seed, &mut seen),
            _ => check_forest::<4, f32>(seed, &mut seen),
        }
    }
    println!("{seen:?}");
    let many = seen.formulas / 3;
    assert!(only.is_some() || seen.nodes > 10 * many && seen.proven > 10 * many && seen.both > many, "{seen:?}");
}
