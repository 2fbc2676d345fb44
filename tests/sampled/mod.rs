//! What a coarse sample says of levels, beside what runs count.

mod schemes;
mod streams;

use orthant::WordsMut;
use orthant::backend::{ExploreOrder, FIRST_ROUND, LAST_ROUND};
use orthant::field::{FieldOptions, mandelbrot, simplex};
use orthant::geometry::SampleGrid;
use orthant::prelude::*;
use orthant::result::LevelCounts;
use orthant_lab::model::Rounds;
use orthant_lab::model::observed::LevelWork;
use orthant_lab::model::sample::{Coarse, Explore};

const ROUNDS: Rounds = Rounds { first: FIRST_ROUND, last: LAST_ROUND };

/// A sample of at most so many cells.
fn taken<const K: usize>(field: &dyn Field<K>, domain: &Domain<K>, budget: u64, explore: Explore) -> Coarse<K> {
    let grid = SampleGrid::new(domain.size(), budget);
    let mut labels = vec![0u32; grid.cells() as usize];
    let host = field.host().expect("tests evaluate here");
    host.evaluate(&grid.cells_from(0, labels.len()), WordsMut::Narrow(&mut labels));
    let labels: Vec<u64> = labels.into_iter().map(u64::from).collect();
    Coarse::new(&labels, grid, field, domain, explore)
}

/// Expected levels beside those of a run.
fn levels<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, budget: u64) -> Vec<(LevelWork, LevelCounts)> {
    let how = How::default();
    let explore = Explore {
        rule: plan.rule(),
        proves: how.tuning.asks_proofs(plan.rule()),
        order: how.tuning.explore_order,
        rounds: ROUNDS,
    };
    let coarse = taken(field, plan.domain(), budget, explore);
    assert!(coarse.cells() <= budget);
    let run = run(plan, field).unwrap();
    let expected = coarse.levels(plan.scheme(), how.kept.keep);
    assert_eq!(expected.len(), run.levels().len());
    expected.into_iter().zip(run.levels().iter().map(|level| level.counts)).collect()
}

fn near(expected: f64, found: u64, tolerance: f64) {
    assert!((expected - found as f64).abs() <= tolerance * found as f64, "{expected} {found}");
}

#[test]
fn a_coarse_sample_tells_what_a_run_will_do() {
    let domain = Domain::new([1024; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let field = mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
    for (g, r, b) in [(8, 2, 8), (2, 4, 8), (32, 2, 4), (64, 4, 2)] {
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Morton, RuleKind::Border).unwrap();
        let (mut expected, mut found) = (LevelWork::default(), LevelCounts::default());
        for (level, counts) in levels(&plan, &*field, 1 << 14) {
            near(level.regions, counts.regions, 0.2);
            expected.explored += level.explored;
            expected.evaluated += level.evaluated;
            *expected.iterations.get_or_insert(0.0) += level.iterations.unwrap();
            found += counts;
        }
        near(expected.explored, found.explored_cells, 0.25);
        near(expected.evaluated, found.evaluated_cells, 0.25);
        near(expected.iterations.unwrap(), found.label_sum, 0.3);
    }
}

#[test]
fn a_field_with_proofs_is_counted_exactly_and_looked_at_nowhere() {
    let domain = Domain::new([256; 3], [[0.0, 256.0]; 3], Sample::Corner).unwrap();
    let field = simplex::open(&domain, &FieldOptions::default()).unwrap();
    let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Morton, RuleKind::Full).unwrap();
    for (level, counts) in levels(&plan, &*field, 1 << 15) {
        assert_eq!((level.regions, level.divided), (counts.regions as f64, counts.subdivided as f64));
        assert_eq!((level.explored, level.iterations), (0.0, None));
    }
    let explore = Explore { rule: RuleKind::Full, proves: true, order: ExploreOrder::Scattered, rounds: ROUNDS };
    let coarse = taken(&*field, &domain, 1 << 15, explore);
    assert!((coarse.box_dimension() - 2.0).abs() < 1e-12);
}

/// Where proofs decide, levels far finer than the sample are expected as they come.
#[test]
fn what_proofs_leave_is_expected_on_every_level() {
    fn check<const K: usize>(field: &dyn Field<K>, domain: Domain<K>, (g, b): (u32, u32)) {
        let plan = Plan::new(domain, Scheme::uniform(g, 2, b), CurveKind::Morton, RuleKind::Certified).unwrap();
        let levels = levels(&plan, field, 1 << 12);
        assert!(levels.len() > 2 && levels.last().unwrap().1.leaves > 0);
        for (level, counts) in levels {
            near(level.regions, counts.regions, 0.1);
            near(level.evaluated, counts.evaluated_cells, 0.1);
            near(level.iterations.unwrap(), counts.label_sum, 0.15);
            assert_eq!(level.explored, 0.0);
        }
    }
    let mut options = FieldOptions::default();
    options.dwell = 64;
    let window = [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]];
    let julibrot = Domain::new([32; 4], window, Sample::Centre).unwrap();
    check(&*orthant::field::julibrot::open(&julibrot, &options).unwrap(), julibrot, (2, 1));
    let bulb = Domain::new([128; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
    check(&*orthant::field::mandelbulb::open(&bulb, &options).unwrap(), bulb, (4, 2));
    let plane = Domain::new([900; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    check(&*mandelbrot::open(&plane, &options).unwrap(), plane, (6, 4));
}

#[test]
fn axes_that_are_not_split_are_expected_too() {
    let (size, radius) = ([128; 3], 0.37f64);
    let domain = Domain::new(size, [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let field = orthant::field::CellField::new(1, move |cell: [u32; 3]| {
        let place = |j: usize| (f64::from(cell[j]) + 0.5) / f64::from(size[j]) - 0.49;
        u32::from((0..3).map(|j| place(j).powi(2)).sum::<f64>() < radius * radius)
    });
    for (g, r) in [([4, 4, 128], [2, 2, 1]), ([4, 4, 1], [2, 2, 1]), ([2, 16, 4], [4, 1, 2])] {
        let plan = Plan::new(domain, Scheme { g, r, b: [4; 3] }, CurveKind::Morton, RuleKind::Full).unwrap();
        let levels = levels(&plan, &field, 1 << 15);
        assert!(levels.len() > 1);
        for (level, counts) in levels {
            near(level.regions, counts.regions, 0.5);
        }
    }
}
