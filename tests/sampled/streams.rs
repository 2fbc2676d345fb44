//! What streams are expected to evaluate, beside the cells of the planes that they look at.

use std::collections::HashSet;

use orthant::backend::ExploreOrder;
use orthant::field::{FieldOptions, mandelbrot};
use orthant::prelude::*;
use orthant::result::Content;
use orthant_lab::model::observed::LevelWork;
use orthant_lab::model::sample::{Coarse, Explore};

use super::{ROUNDS, taken};

fn coarse<const K: usize>(field: &dyn Field<K>, domain: &Domain<K>, budget: u64) -> Coarse<K> {
    let (rule, order) = (RuleKind::Closed, ExploreOrder::Scattered);
    let explore = Explore { rule, proves: false, order, rounds: ROUNDS };
    taken(field, domain, budget, explore)
}

/// The regions that a run divided, by level: whatever lies above a terminal region.
fn divided<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>) -> (Vec<HashSet<[u32; K]>>, Vec<Region<K>>) {
    let run = run(plan, field).unwrap();
    let mut divided = vec![HashSet::new(); plan.levels().len()];
    let mut leaves = Vec::new();
    for terminal in run.terminals() {
        let region = run.region(terminal);
        for level in &plan.levels()[..terminal.level() as usize] {
            divided[level.index as usize].insert(level.coords(region.corner));
        }
        if matches!(terminal.content(), Content::Leaf { .. }) {
            leaves.push(region);
        }
    }
    (divided, leaves)
}

/// The cells of the planes at `at` along an axis through the closure of a region: strictly between the faces of the axes before.
fn on_plane<const K: usize>(size: [u32; K], region: &Region<K>, axis: usize) -> u64 {
    let cells = |l: usize| match l < axis {
        true => region.extent[l] - 1,
        false => (region.extent[l] + 1).min(size[l] - region.corner[l]),
    };
    (0..K).filter(|&l| l != axis).map(|l| u64::from(cells(l))).product()
}

/// Per level, the cells on planes that streams evaluate (kernels/strategies/stream_faces.cu), plane by plane; and those that are left
/// inside of leaves.
fn counted<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>) -> (Vec<u64>, u64) {
    let (size, scheme) = (plan.domain().size(), plan.scheme());
    let (divided, leaves) = divided(plan, field);
    let roots = &plan.levels()[0];
    let mut cells = vec![0; plan.levels().len()];
    for number in 0..roots.regions() as u64 {
        let whole = Region { corner: [0; K], extent: roots.grid };
        let coords = whole.cell(whole.offset(number));
        let region = roots.region(coords);
        for axis in 0..K {
            // The upper plane is the next root's, but for the last one.
            let last = coords[axis] + 1 == roots.grid[axis];
            cells[0] += (1 + u64::from(last)) * on_plane(size, &region, axis);
        }
    }
    for (level, regions) in divided.iter().enumerate() {
        for &coords in regions {
            let region = plan.levels()[level].region(coords);
            for axis in 0..K {
                cells[level + 1] += u64::from(scheme.r[axis] - 1) * on_plane(size, &region, axis);
            }
        }
    }
    let inside = |leaf: &Region<K>| leaf.extent.iter().map(|&side| u64::from(side - 1)).product::<u64>();
    (cells, leaves.iter().map(inside).sum())
}

#[test]
fn streams_look_at_a_shared_face_once() {
    // Whatever is not divisible, too, where every region is mixed.
    let size = [48, 40, 30];
    let domain = Domain::new(size, [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let field = CellField::new(57_600, move |[x, y, z]: [u32; 3]| x + 48 * (y + 40 * z));
    for (g, r, b) in [(2, 2, 2), (3, 2, 3), (2, 3, 1)] {
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Canonical, RuleKind::Closed).unwrap();
        let expected = coarse(&field, &domain, 1 << 14).levels_of_streams(plan.scheme(), Keep::Dense);
        let (faces, inside) = counted(&plan, &field);
        assert_eq!(expected.len(), faces.len());
        for (level, &cells) in expected.iter().zip(&faces) {
            assert!((level.explored - cells as f64).abs() < 0.03 * cells as f64, "{} {cells}", level.explored);
        }
        let evaluated = expected.last().unwrap().evaluated;
        assert!((evaluated - inside as f64).abs() < 0.03 * inside as f64, "{evaluated} {inside}");
    }
}

#[test]
fn a_coarse_sample_tells_what_a_stream_will_do() {
    let domain = Domain::new([1024; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
    let field = mandelbrot::open(&domain, &FieldOptions::default()).unwrap();
    let coarse = coarse(&*field, &domain, 1 << 14);
    for (g, r, b) in [(8, 2, 8), (16, 4, 8), (32, 2, 4)] {
        let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Morton, RuleKind::Closed).unwrap();
        let expected = coarse.levels_of_streams(plan.scheme(), Keep::Dense);
        let (faces, inside) = counted(&plan, &*field);
        let close = |expected: f64, found: u64| (expected - found as f64).abs() < 0.2 * found as f64;
        for (level, &cells) in expected.iter().zip(&faces) {
            assert!(close(level.explored, cells), "{} {cells}", level.explored);
        }
        assert!(close(expected.last().unwrap().evaluated, inside));
        // Streams evaluate less than who explores every region for itself.
        let alone = coarse.levels(plan.scheme(), How::default().kept.keep);
        let all = |levels: &[LevelWork]| levels.iter().map(|level| level.explored + level.evaluated).sum::<f64>();
        assert!(all(&expected) < all(&alone));
        assert!(coarse.whole().iterations > expected.iter().map(|level| level.iterations).sum());
    }
}
