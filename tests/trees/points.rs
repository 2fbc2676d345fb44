//! Trees of points: sorted along the curve, against dense arrays.

use ndarray::ArrayD;
use orthant::points::{PointAttribute, Points, PointsError, PointsValue};
use orthant::prelude::*;
use orthant::tree::{BottomUp, FromPoints, TreeError};
use orthant::{Cell, CellType};

use crate::trees::{Random, in_each_dimension};

/// Points in and about the domain, and the number that each has: many of them in few cells, on borders of cells, and on the border of the
/// domain.
fn points<const K: usize>(random: &mut Random, domain: &Domain<K>, count: usize) -> (Points, Vec<f32>) {
    let mut coordinates = Vec::new();
    for _ in 0..count {
        let dense = random.below(3) == 0;
        for j in 0..K {
            let ([low, high], n) = (domain.window()[j], u64::from(domain.size()[j]));
            let cell = if dense { random.below(2.min(n)) } else { random.below(n + 1) };
            // On the lower border of the cell, or in it; of the last number on the upper border of the domain, or beyond.
            let within = [0.0, 0.0, 0.25, 0.5, 1.0 - 1e-16][random.below(5) as usize];
            let x = (cell as f64 + within).mul_add((high - low) / n as f64, low);
            coordinates.push(if cell == n && within == 0.0 { high } else { x });
        }
    }
    let numbers: Vec<f32> = (0..count).map(|_| random.below(9) as f32 - 4.0).collect();
    (Points::new(K, coordinates).unwrap().attribute(PointAttribute::new("a", &numbers)).unwrap(), numbers)
}

/// The dense array of the same cells.
fn dense<T: Cell, const K: usize>(
    domain: &Domain<K>,
    points: &Points,
    numbers: &[f32],
    cell: impl Fn(&[f32]) -> T,
) -> ArrayD<T> {
    let size = domain.size();
    let shape: Vec<usize> = (0..K).rev().map(|j| size[j] as usize).collect();
    let mut held: ArrayD<Vec<f32>> = ArrayD::from_elem(shape, Vec::new());
    for (point, &number) in points.coordinates().as_chunks::<K>().0.iter().zip(numbers) {
        if let Some(cell) = domain.cell_at(*point) {
            let at: Vec<usize> = (0..K).rev().map(|j| cell[j] as usize).collect();
            held[&at[..]].push(number);
        }
    }
    held.mapv(|values| if values.is_empty() { T::of_count(0) } else { cell(&values) })
}

fn check<const K: usize>(seed: u64) {
    let mut random = Random(seed);
    let most = [0, 0, 70, 30, 12, 7, 6][K];
    let size: [u32; K] = std::array::from_fn(|_| 1 + random.below(most) as u32);
    let scheme = Scheme {
        g: size.map(|n| 1 + random.below(3.min(n.into())) as u32),
        r: std::array::from_fn(|j| [2, 2, 3, 4, 1][(random.below(5) as usize).min(if j == 0 { 3 } else { 4 })]),
        b: std::array::from_fn(|_| 1 + random.below(3) as u32),
    };
    let window = size.map(|_| {
        let low = random.below(1000) as f64 / 8.0 - 60.0;
        [low, low + 1.0 + random.below(90) as f64 / 7.0]
    });
    let domain = Domain::new(size, window, Sample::Centre).unwrap();
    let (r, evenly) = (scheme.r[0].next_power_of_two().max(2), seed.is_multiple_of(3));
    let scheme = if evenly { Scheme { r: [r; K], ..scheme } } else { scheme };
    let curves: &[CurveKind] = if evenly { CurveKind::ALL } else { &[CurveKind::Canonical, CurveKind::Morton] };
    let count = [1, 3, 40, 1000, 30_000][random.below(5) as usize];
    let (points, numbers) = points(&mut random, &domain, count);
    for &curve in curves {
        let plan = Plan::new(domain, scheme, curve, RuleKind::Full).unwrap();
        let made = |value| FromPoints::new(&plan, &points, value).unwrap();
        if !(0..points.len()).any(|i| domain.cell_at(points.coordinates().as_chunks::<K>().0[i]).is_some()) {
            let error = made(PointsValue::Count).tree().unwrap_err();
            assert!(matches!(error, TreeError::Points(PointsError::Outside { .. })), "{error}");
            continue;
        }
        let same = |tree: Tree<K>, expected: Tree<K>, value: PointsValue| {
            assert!(tree == expected, "seed {seed}, {value} of {plan:?}: {} {}", tree.len(), expected.len());
            assert_eq!(tree.checksum(), expected.checksum());
            // Part by part, and counted.
            let (counts, checksum) = made(value).counts(true).unwrap();
            assert_eq!(checksum, Some(tree.checksum()), "seed {seed}, {value}");
            assert_eq!((counts.totals().filled + counts.totals().leaves) as usize, tree.len());
        };
        macro_rules! compare {
            ($value:ident, $T:ty, $cell:expr) => {{
                let value = PointsValue::$value;
                let array = dense::<$T, K>(&domain, &points, &numbers, $cell);
                let source = ArrayField::new(array.view()).unwrap();
                let expected = BottomUp::new(&plan, &source).unwrap().tree().unwrap();
                same(made(value).tree().unwrap(), expected, value);
            }};
        }
        compare!(Occupied, u8, |_| 1);
        compare!(Count, u32, |values| values.len() as u32);
        compare!(Min, f32, |values| values.iter().copied().fold(f32::INFINITY, f32::min));
        compare!(Max, f32, |values| values.iter().copied().fold(f32::NEG_INFINITY, f32::max));
        compare!(Mean, f32, |values| {
            (values.iter().map(|&value| f64::from(value)).sum::<f64>() / values.len() as f64) as f32
        });
    }
}

/// Regions, bricks and checksums, in every dimension, of random sizes, schemes and curves.
#[test]
fn trees_are_those_of_dense_arrays() {
    in_each_dimension!(check);
}

#[test]
fn values_keep_the_type_of_the_attribute() {
    let points = Points::new(2, vec![0.0, 0.0, 0.1, 0.1, 3.9, 3.9, 8.0, 8.0]).unwrap();
    let words = [u64::MAX, u64::MAX - 1, 7, 0];
    let points = points.attribute(PointAttribute::new("time", &words)).unwrap();
    let plan = |g| Plan::builder([8; 2]).window([[0.0, 8.0]; 2]).scheme(Scheme::uniform(g, 2, 1)).rule(RuleKind::Full);
    let plan = plan(2).build().unwrap();
    let tree = |value| FromPoints::new(&plan, &points, value).unwrap().tree().unwrap();
    let (min, max) = (tree(PointsValue::Min), tree(PointsValue::Max));
    assert_eq!((min.get([0, 0]), max.get([0, 0])), (Some(u64::MAX - 1), Some(u64::MAX)));
    // A cell whose value is 0 is as one without points.
    assert_eq!((min.kind(), min.get([7, 7]), min.get([3, 3])), (CellType::U64, Some(0u64), Some(7u64)));
    assert_eq!(tree(PointsValue::Mean).get::<f64>([3, 3]), Some(7.0));
}

#[test]
fn what_cannot_be_is_named() {
    let points = Points::sphere(1.0, 100);
    let plan = |n: u32| Plan::builder([n; 3]).scheme(Scheme::uniform(1, 2, 4)).rule(RuleKind::Full).build().unwrap();
    let error = |n, value| FromPoints::new(&plan(n), &points, value).unwrap_err().to_string();
    assert!(error(64, PointsValue::Mean).contains("name one, as in --attribute"), "{}", error(64, PointsValue::Mean));
    assert!(error(1 << 22, PointsValue::Count).starts_with("a cell would need more than 64 bits"));
    assert!(FromPoints::new(&plan(1 << 21), &points, PointsValue::Count).is_ok());
    let flat = Points::new(2, vec![0.0; 2]).unwrap();
    let error = FromPoints::new(&plan(64), &flat, PointsValue::Count).unwrap_err();
    assert_eq!(error.to_string(), "points of 2 coordinates, and 3 dimensions");
    let border = Plan::builder([64; 3]).rule(RuleKind::Border).build().unwrap();
    assert!(matches!(FromPoints::new(&border, &points, PointsValue::Count), Err(TreeError::Rule(_))));
    let limited = FromPoints::new(&plan(64), &points, PointsValue::Count).unwrap().mem_limit(1000);
    assert!(limited.tree().unwrap_err().to_string().contains("the limit of"));
}

/// A sorted list takes room beside itself while it is sorted. The least limit that does is as much as all of that.
#[test]
fn sorting_is_within_the_limit_of_memory() {
    // One region has all of them, so that a file of runs has no part that is smaller.
    let points = Points::new(2, (0..40_000).map(|i| f64::from(i % 7) / 7.0).collect()).unwrap();
    let domain = Domain::new([8; 2], [[0.0, 1.0]; 2], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(1, 2, 8), CurveKind::Morton, RuleKind::Full).unwrap();
    let room = |_| tempfile::tempfile();
    // Keys of 8 bytes: the list, what was spread of it, and what is sorted in the cache.
    let need = 3 * 8 * 20_000;
    // And one key in 4096, of a run in a file.
    for (limit, fits) in [(need - 1, false), (need + 8 * 5, true)] {
        let memory = FromPoints::new(&plan, &points, PointsValue::Count).unwrap().mem_limit(limit);
        let file = FromPoints::batches(&plan, &points, PointsValue::Count, &room).unwrap().mem_limit(limit);
        for (builder, what) in [(memory, "memory"), (file, "file")] {
            let made = builder.tree().map(drop).map_err(|error| error.to_string());
            assert_eq!(made.is_ok(), fits, "{what}, {limit}: {made:?}");
            assert!(fits || made.unwrap_err().contains("the limit of"));
        }
    }
}
