//! Cells of every type, and the bit patterns that an engine might take for something else.

use ndarray::{ArrayD, IxDyn};
use orthant::backend::{ExploreOrder, Insertion};
use orthant::field::ArrayField;
use orthant::field::FieldOptions;
use orthant::prelude::*;
use orthant::{Cell, CellType, Mapping, field};
use proptest::prelude::*;

use crate::patterns::awkward;

/// What counts as the same value has the same key.
fn key<T: Cell>(value: T) -> u64 {
    orthant::rule::exact::key(T::TYPE, value.word())
}

/// Boxes of values on a ground of one: large uniform regions, some of whose sides are cells of another value.
fn array<T: Cell>(size: &[usize], boxes: &[(Vec<f64>, Vec<f64>, usize)]) -> ArrayD<T> {
    let values = awkward::<T>();
    ArrayD::from_shape_fn(IxDyn(size), |index| {
        let inside = |(low, high, _): &&(Vec<f64>, Vec<f64>, usize)| {
            (0..size.len()).all(|j| {
                let at = index[j] as f64 / size[j] as f64;
                (low[j]..high[j].max(low[j])).contains(&at)
            })
        };
        values[boxes.iter().rev().find(inside).map_or(0, |(_, _, value)| value % values.len())]
    })
}

fn check<T: Cell, const K: usize>(size: &[usize], boxes: &[(Vec<f64>, Vec<f64>, usize)], scheme: Scheme<K>) {
    let truth = array::<T>(size, boxes);
    let field = ArrayField::<K, T>::new(truth.view()).unwrap();
    let domain = Domain::new(field.size(), [[0.0, 1.0]; K], Sample::Corner).unwrap();
    let plan = |rule| Plan::new(domain, scheme, CurveKind::Morton, rule).unwrap();
    let whole = |how: &How, rule| {
        let done = Run::new(&plan(rule), &field).how(how.clone().poison(0x5a)).start().unwrap();
        let array = done.materialise(None).unwrap();
        assert_eq!(array.cells().kind(), T::TYPE);
        let words: Vec<u64> = array.view::<T>().unwrap().iter().map(|value| value.word()).collect();
        (words, done.terminals().len())
    };
    let keys = |words: &[u64]| words.iter().map(|&word| key(T::from_word(word))).collect::<Vec<_>>();
    let expected: Vec<u64> = truth.iter().map(|&value| value.word()).collect();
    assert_eq!(whole(&How::default().strategy(StrategyKind::Exhaustive), RuleKind::Full).0, expected);
    // An array proves nothing.
    for &rule in RuleKind::ALL.iter().filter(|&&rule| rule != RuleKind::Certified) {
        let (first, regions) = whole(&How::default(), rule);
        if rule == RuleKind::Full {
            assert_eq!(keys(&first), keys(&expected), "{}", T::TYPE);
        }
        for how in [
            How::default().keep(Keep::Regions),
            How::default().mapping(Some(Mapping::Mbr)).explore_order(ExploreOrder::Paper),
            How::default().strategy(StrategyKind::Dp).insertion(Insertion::Atomic),
            How::default().strategy(StrategyKind::Dp).mapping(Some(Mapping::Mbr)).keep(Keep::Regions),
        ] {
            assert_eq!(whole(&how, rule), (first.clone(), regions), "{} {rule} {how:?}", T::TYPE);
        }
    }
}

fn check_every<const K: usize>(size: [u32; K], boxes: &[(Vec<f64>, Vec<f64>, usize)], (g, r, b): (u32, u32, u32)) {
    let shape: Vec<usize> = size.iter().rev().map(|&n| n as usize).collect();
    let scheme = Scheme::uniform(g, r, b);
    check::<u8, K>(&shape, boxes, scheme);
    check::<u16, K>(&shape, boxes, scheme);
    check::<u32, K>(&shape, boxes, scheme);
    check::<u64, K>(&shape, boxes, scheme);
    check::<i8, K>(&shape, boxes, scheme);
    check::<i16, K>(&shape, boxes, scheme);
    check::<i32, K>(&shape, boxes, scheme);
    check::<i64, K>(&shape, boxes, scheme);
    check::<f32, K>(&shape, boxes, scheme);
    check::<f64, K>(&shape, boxes, scheme);
}

fn boxes() -> impl Strategy<Value = Vec<(Vec<f64>, Vec<f64>, usize)>> {
    let corner = || prop::collection::vec(0.0..1.0f64, 3);
    prop::collection::vec((corner(), corner(), 0usize..16), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn every_type_is_found_uniform_by_its_values(
        size in prop::array::uniform3(2u32..24), boxes in boxes(), g in 1u32..3, r in 2u32..4, b in 1u32..4,
    ) {
        check_every::<1>([size[0] * 5], &boxes, (g, r, b));
        check_every::<2>([size[0], size[1]], &boxes, (g, r, b));
        check_every::<3>([size[0], size[1] / 2 + 2, size[2] / 3 + 2], &boxes, (g, r, b));
    }
}

#[test]
fn counts_become_cells_of_any_type_that_holds_them() {
    let domain = Domain::new([64, 48], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(2, 2, 2), CurveKind::Hilbert, RuleKind::Border).unwrap();
    let options = FieldOptions::default().dwell(100);
    let field = field::mandelbrot::open(&domain, &options).unwrap();
    let counts = |how: &How| {
        let array = Run::new(&plan, &*field).how(how.clone()).start().unwrap().materialise(None).unwrap();
        (0..array.cells().len()).map(|i| array.cells().label(i)).collect::<Vec<_>>()
    };
    let expected = counts(&How::default());
    for &cell in CellType::ALL {
        for keep in [Keep::Dense, Keep::Regions] {
            for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
                assert_eq!(counts(&How::default().cell(cell).keep(keep).strategy(strategy)), expected, "{cell} {keep}");
            }
        }
    }
    let dwell = options.dwell(200);
    let field = field::mandelbrot::open(&domain, &dwell).unwrap();
    let refused = Run::new(&plan, &*field).how(How::default().cell(CellType::I8)).start().unwrap_err().to_string();
    assert!(refused.starts_with("cell i8: labels of this field reach 200, more than 127"), "{refused}");
}
