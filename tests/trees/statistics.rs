//! Labels and sums over all cells, against loops over them.

use std::collections::HashMap;

use ndarray::{Array2, Array3, ArrayView3};
use orthant::prelude::*;
use orthant::tree::{CellList, Parts, TreeError, ValueStatistics};
use orthant::{Cell, Control};

use crate::trees::key;

/// Each label as a loop over all cells has it.
fn check<T: Cell>(array: ArrayView3<'_, T>) {
    let tree = Tree::<3>::from_array(array).unwrap();
    let mut expected = HashMap::new();
    for ((z, y, x), value) in array.indexed_iter() {
        let cell = [x, y, z];
        let of = (0u128, [0.0; 3], [u32::MAX; 3], [0u32; 3]);
        let (cells, sum, first, last) = expected.entry(key(*value)).or_insert(of);
        *cells += 1;
        for j in 0..3 {
            sum[j] += cell[j] as f64 + 0.5;
            (first[j], last[j]) = (first[j].min(cell[j] as u32), last[j].max(cell[j] as u32));
        }
    }
    let found = tree.labels(1000).unwrap();
    assert_eq!(found.len(), expected.len());
    assert!(found.is_sorted_by_key(|label| T::TYPE.rank(label.word)));
    for label in found {
        let (cells, sum, first, last) = expected[&label.word];
        assert_eq!(label.cells, cells);
        assert_eq!(label.bounds, Region { corner: first, extent: std::array::from_fn(|j| last[j] + 1 - first[j]) });
        for j in 0..3 {
            assert!((label.centroid[j] - sum[j] / cells as f64).abs() < 1e-9);
        }
    }
    assert!(matches!(tree.labels(expected.len() - 1), Err(TreeError::Labels { .. })));
}

#[test]
fn labels_are_where_a_look_at_every_cell_finds_them() {
    let ball = |z: usize, y: usize, x: usize| x.abs_diff(30).pow(2) + y.abs_diff(20).pow(2) + z.abs_diff(9).pow(2);
    check(Array3::from_shape_fn((24, 40, 70), |(z, y, x)| (ball(z, y, x) / 150) as u8).view());
    check(Array3::from_shape_fn((24, 40, 70), |(z, y, x)| (ball(z, y, x) / 90) as i16 - 7).view());
    check(Array3::from_shape_fn((20, 33, 50), |(z, y, x)| (ball(z, y, x) / 300) as u64 * 1_000_000_007).view());
    let holes = |(z, y, x)| if ball(z, y, x) < 50 { f32::NAN } else { (ball(z, y, x) / 200) as f32 - 3.0 };
    check(Array3::from_shape_fn((20, 33, 50), holes).view());
}

#[test]
fn values_are_as_a_loop_over_all_cells_has_them() {
    let value = |y: usize, x: usize| match (x, y) {
        (0..5, _) => f32::NAN,
        (_, 0) => -1.0,
        (9, 9) => f32::INFINITY,
        _ => ((x * 31 + y * 17) % 1000) as f32 / 8.0,
    };
    let array = Array2::from_shape_fn((300, 200), |(y, x)| value(y, x));
    let tree = Tree::<2>::from_array(array.view()).unwrap();
    let found = (&tree as &dyn Parts<2>).values(5, Some((-1.0f32).to_bits().into())).unwrap();
    let finite: Vec<f64> = array.iter().filter(|&&v| v.is_finite() && v != -1.0).map(|&v| f64::from(v)).collect();
    let nan = array.iter().filter(|v| v.is_nan()).count();
    assert_eq!((found.nan, found.nodata), (nan as u128, 195));
    assert_eq!(found.cells, finite.len() as u128 + 1);
    assert_eq!(found.greatest, Some(f32::INFINITY.to_bits().into()));
    assert_eq!((found.least, found.range), (Some(0), [0.0, 999.0 / 8.0]));
    let mean = finite.iter().sum::<f64>() / finite.len() as f64;
    let deviation = (finite.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / finite.len() as f64).sqrt();
    assert!((found.mean - mean).abs() < 1e-9 && (found.deviation - deviation).abs() < 1e-9);
    let within = |interval: usize| {
        let width = found.range[1] / 5.0;
        let place = |v: &&f64| ((**v / width) as usize).min(4) == interval;
        finite.iter().filter(place).count() as u128
    };
    assert_eq!(found.histogram, (0..5).map(within).collect::<Vec<_>>());
}

/// Words that are counted by table say what sums over pieces say, of dense trees and of lists.
#[test]
fn counted_words_are_summed_values() {
    fn found<T: Cell>(of: impl Fn(i32) -> T) -> (ValueStatistics, ValueStatistics) {
        let value = |y: usize, x: usize| {
            if (x / 64 + y / 64).is_multiple_of(3) { -7 } else { (x * 31 + y * 17) as i32 % 90 - 20 }
        };
        let array = Array2::from_shape_fn((300, 200), |(y, x)| of(value(y, x)));
        let tree = Tree::<2>::from_array(array.view()).unwrap();
        let plan = Plan::builder([1 << 20; 2]).scheme(Scheme::uniform(1, 2, 2)).rule(RuleKind::Full).build().unwrap();
        let mut list = CellList::new(&plan, T::TYPE).unwrap();
        (0..500u32).for_each(|i| list.push([i * 977, i * 31], of(i as i32 % 50 - 9).word()).unwrap());
        let list = list.sorted(&Control::default()).unwrap().tree().unwrap();
        let values = |tree: &dyn Parts<2>| tree.values(7, Some(of(3).word())).unwrap();
        (values(&tree), values(&list))
    }
    let close = |a: &ValueStatistics, b: &ValueStatistics| {
        assert_eq!((a.cells, a.nodata, a.range, &a.histogram), (b.cells, b.nodata, b.range, &b.histogram));
        assert!((a.mean - b.mean).abs() < 1e-9 && (a.deviation - b.deviation).abs() < 1e-9, "{a:?} {b:?}");
    };
    let ((a, b), (c, d), (e, f)) = (found(|v| v as i8), found(|v| v as i16), found(|v| v));
    [(&a, &e), (&c, &e), (&b, &f), (&d, &f)].into_iter().for_each(|(one, other)| close(one, other));
    assert!(e.nodata > 0 && f.nodata > 0);
}

/// One value, and none.
#[test]
fn ends_that_are_one() {
    let found = |value: f64| {
        let tree = Tree::<2>::from_array(Array2::from_elem((9, 9), value).view()).unwrap();
        (&tree as &dyn Parts<2>).values(3, None).unwrap()
    };
    let one = found(2.5);
    assert_eq!((one.mean, one.deviation, &one.histogram[..]), (2.5, 0.0, &[81, 0, 0][..]));
    let none = found(f64::NAN);
    assert_eq!((none.cells, none.nan, none.least, &none.histogram[..]), (0, 81, None, &[0; 3][..]));
    assert!(none.mean.is_nan());
}
