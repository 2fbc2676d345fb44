//! Points that are sorted in a file, a few at a time, against those that are sorted in memory.

use orthant::points::{PointAttribute, Points, PointsValue};
use orthant::prelude::*;
use orthant::tree::FromPoints;

use crate::trees::{Random, in_each_dimension};

/// Points at multiples of half a cell: on borders of cells and of the domain, within cells, and beyond.
fn check<const K: usize>(seed: u64) {
    let mut random = Random(seed);
    let most = [0, 0, 70, 30, 12, 7, 6][K];
    let size: [u32; K] = std::array::from_fn(|_| 1 + random.below(most) as u32);
    let domain = Domain::new(size, size.map(|n| [0.0, n.into()]), Sample::Centre).unwrap();
    let count = [1, 40, 1000, 30_000][(seed % 4) as usize];
    let place = |i: usize| random.below(2 * u64::from(size[i % K]) + 3) as f64 / 2.0 - 0.5;
    // The first one is within, so that there is a tree.
    let coordinates = [0.5; K].into_iter().chain((0..K * count).map(place)).collect();
    let values: Vec<f32> = (0..=count).map(|i| (i % 9) as f32 - 4.0).collect();
    let points = Points::new(K, coordinates).unwrap().attribute(PointAttribute::new("a", &values)).unwrap();
    let (r, curves) = match seed % 3 {
        0 => ([2; K], CurveKind::ALL),
        _ => (std::array::from_fn(|j| [3, 1, 2][j % 3]), &[CurveKind::Canonical, CurveKind::Morton][..]),
    };
    for &curve in curves {
        let plan = Plan::new(domain, Scheme { g: [1; K], r, b: [1; K] }, curve, RuleKind::Full).unwrap();
        for &value in PointsValue::ALL {
            let expected = FromPoints::new(&plan, &points, value).unwrap().tree().unwrap();
            let room = |_| tempfile::tempfile();
            let spilled = FromPoints::batches(&plan, &points, value, &room).unwrap().points_at_once(700);
            assert!(spilled.tree().unwrap() == expected, "seed {seed}, {curve}, {value}");
        }
    }
}

/// In two to six dimensions, of random sizes, schemes and curves.
#[test]
fn runs_of_random_points_are_what_memory_has() {
    in_each_dimension!(check);
}

/// Many runs, and more points in a few regions than are sorted at a time.
#[test]
fn runs_in_a_file_are_what_memory_has() {
    let mut random = Random(5);
    let place = |random: &mut Random, i: usize| {
        let wide = if i.is_multiple_of(3) { 1 << 20 } else { 1 << 9 };
        random.below(wide) as f64 / f64::from(1 << 20)
    };
    let coordinates: Vec<f64> = (0..900_000).map(|i| place(&mut random, i / 3)).collect();
    let values: Vec<u16> = (0..300_000).map(|_| random.below(60_000) as u16).collect();
    let points = Points::new(3, coordinates).unwrap().attribute(PointAttribute::new("a", &values)).unwrap();
    let domain = Domain::new([500; 3], [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(3, 2, 3), CurveKind::Morton, RuleKind::Full).unwrap();
    for value in [PointsValue::Count, PointsValue::Mean] {
        let expected = FromPoints::new(&plan, &points, value).unwrap().tree().unwrap();
        let room = |bytes: u64| {
            assert_eq!(bytes, 300_000 * if value == PointsValue::Count { 8 } else { 16 });
            tempfile::tempfile()
        };
        let spilled = FromPoints::batches(&plan, &points, value, &room).unwrap().points_at_once(7000);
        assert_eq!(spilled.inside().unwrap(), 300_000);
        assert!(spilled.tree().unwrap() == expected);
    }
}
