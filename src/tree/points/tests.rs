//! Points that are sorted in a file, a few at a time. What trees of points are is a matter of the laws.

use super::FromPoints;
use crate::curve::CurveKind;
use crate::geometry::{Domain, Sample, Scheme};
use crate::plan::Plan;
use crate::points::{PointAttribute, Points, PointsValue};
use crate::rule::RuleKind;

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// Points in and about the domain: many of them in few cells, on borders of cells, and on the border of the domain.
fn points<const K: usize>(random: &mut Random, domain: &Domain<K>, count: usize) -> Points {
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
    let words: Vec<f32> = (0..count).map(|_| random.below(9) as f32 - 4.0).collect();
    Points::new(K, coordinates).unwrap().attribute(PointAttribute::new("a", &words)).unwrap()
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
    let points = points(&mut random, &domain, count);
    for &curve in curves {
        let plan = Plan::new(domain, scheme, curve, RuleKind::Full).unwrap();
        if !(0..points.len()).any(|i| domain.cell_at(points.coordinates().as_chunks::<K>().0[i]).is_some()) {
            continue;
        }
        for &value in PointsValue::ALL {
            let expected = FromPoints::new(&plan, &points, value).unwrap().tree().unwrap();
            // Sorted in a file, a few at a time.
            let room = |_| tempfile::tempfile();
            let spilled = FromPoints::batches(&plan, &points, value, &room).unwrap().together_of(700);
            assert!(spilled.tree().unwrap() == expected, "seed {seed}, {value} in runs");
        }
    }
}

/// In every dimension, of random sizes, schemes and curves.
#[test]
fn runs_of_random_points_are_what_memory_has() {
    for seed in 0..18 {
        check::<2>(seed);
        check::<3>(seed + 1000);
        check::<4>(seed + 2000);
        check::<5>(seed + 3000);
        check::<6>(seed + 4000);
    }
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
        let spilled = FromPoints::batches(&plan, &points, value, &room).unwrap().together_of(7000);
        assert_eq!(spilled.inside().unwrap(), 300_000);
        assert!(spilled.tree().unwrap() == expected);
    }
}
