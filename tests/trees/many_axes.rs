//! Trees of arrays, points and lists in more than four dimensions, where unit tests end.

use orthant::field::ArrayField;
use orthant::geometry::{Domain, Sample, Scheme};
use orthant::ndarray::{Array, Array6, ArrayD, IxDyn};
use orthant::points::{Points, PointsValue};
use orthant::prelude::*;
use orthant::tree::{BottomUp, CellList, FromPoints};
use orthant::{CellType, Control};

/// Static dimensions to 6, dynamic ones to 8.
#[test]
fn arrays_of_six_and_eight_axes() {
    let six = Array6::from_shape_fn((2, 3, 4, 5, 2, 3), |(f, e, d, c, b, a)| (a + b + c + d + e + f) as i64 - 6);
    let tree = Tree::<6>::from_array(six.view()).unwrap();
    assert_eq!(tree.get::<i64>([2, 1, 4, 3, 2, 1]), Some(7));
    let eight = Array::from_shape_fn(IxDyn(&[2; 8]), |at| at[7] as f32 - at[0] as f32);
    let tree = Tree::<8>::from_array(eight.view()).unwrap();
    assert_eq!(tree.get::<f32>([1, 0, 0, 0, 0, 0, 0, 0]), Some(1.0));
    assert_eq!(tree.get::<f32>([0, 0, 0, 0, 0, 0, 0, 1]), Some(-1.0));
}

/// Points in the middle of cells, many of them in few, and the list of their counts: the cells of the dense array.
fn check<const K: usize>(side: u32, seed: u64) {
    let mut state = seed;
    let mut below = |n: u32| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as u32 % n
    };
    let size: [u32; K] = std::array::from_fn(|_| 1 + below(side));
    let cells: Vec<[u32; K]> =
        (0..900).map(|i| std::array::from_fn(|j| below(if i % 3 == 0 { size[j].min(2) } else { size[j] }))).collect();
    let mut counts: ArrayD<u32> = ArrayD::zeros(size.iter().rev().map(|&n| n as usize).collect::<Vec<_>>());
    for cell in &cells {
        let at: Vec<usize> = cell.iter().rev().map(|&at| at as usize).collect();
        counts[&at[..]] += 1;
    }
    let coordinates = cells.iter().flatten().map(|&at| f64::from(at) + 0.5).collect();
    let points = Points::new(K, coordinates).unwrap();
    let domain = Domain::new(size, size.map(|n| [0.0, n.into()]), Sample::Centre).unwrap();
    for curve in [CurveKind::Morton, CurveKind::Hilbert, CurveKind::Canonical] {
        let plan = Plan::new(domain, Scheme { g: [1; K], r: [2; K], b: [1; K] }, curve, RuleKind::Full).unwrap();
        let expected = BottomUp::new(&plan, &ArrayField::new(counts.view()).unwrap()).unwrap().tree().unwrap();
        let found = FromPoints::new(&plan, &points, PointsValue::Count).unwrap().tree().unwrap();
        assert!(found == expected, "points, seed {seed}, {plan:?}");
        let mut list = CellList::new(&plan, CellType::U32).unwrap().most(1 + seed % 9);
        for cell in domain.region().cells() {
            let count = expected.word(cell).unwrap();
            if count != 0 {
                list.push(cell, count).unwrap();
            }
        }
        let listed = list.sorted(&Control::default()).unwrap().tree().unwrap();
        assert!(domain.region().cells().all(|cell| listed.word(cell) == expected.word(cell)), "list, seed {seed}");
    }
}

#[test]
fn points_and_lists_of_five_and_six_axes() {
    for seed in 0..8 {
        check::<5>(7, seed);
        check::<6>(6, seed);
    }
}
