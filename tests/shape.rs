//! Axes that are not split, and a stop side per axis: the engine against a subdivision written from the rules alone, and the
//! regions that a boundary should meet against those that it does.

use ndarray::ArrayD;
use orthant::WordsMut;
use orthant::field::Payload;
use orthant::field::{Evaluate, Labels, Prove};
use orthant::prelude::*;
use orthant::result::Content;
use orthant::rule::Verdict;
use proptest::prelude::*;

use crate::outcome::mixed;

/// A terminal region: its corner, its extent, and the label of a uniform one.
type Found<const K: usize> = ([u32; K], [u32; K], Option<u32>);

/// Subdivision region by region and cell by cell. It knows nothing of levels, codes and curves.
struct Naive<'a, const K: usize> {
    array: &'a ArrayD<u32>,
    size: [u32; K],
    scheme: Scheme<K>,
    rule: RuleKind,
    /// What is written; u32::MAX where nothing was.
    cells: ArrayD<u32>,
    /// Divided, filled and leaves per level.
    counts: Vec<[u64; 3]>,
    terminals: Vec<Found<K>>,
}

/// The place of a cell in an array in C order.
fn place<const K: usize>(cell: [u32; K]) -> Vec<usize> {
    cell.iter().rev().map(|&c| c as usize).collect()
}

/// Every cell from `corner` to before `end`.
fn cells<const K: usize>(corner: [u32; K], end: [u32; K]) -> Vec<[u32; K]> {
    (0..K).fold(vec![corner], |cells, j| {
        let along = |cell: [u32; K]| {
            (corner[j]..end[j]).map(move |c| {
                let mut cell = cell;
                cell[j] = c;
                cell
            })
        };
        cells.into_iter().flat_map(along).collect()
    })
}

impl<const K: usize> Naive<'_, K> {
    /// Subdivides from the region at `coords` of `grid` down.
    fn descend(&mut self, level: usize, grid: [u64; K], coords: [u64; K]) {
        let bound = |j: usize, p: u64| (p * u64::from(self.size[j]) / grid[j]) as u32;
        let corner: [u32; K] = std::array::from_fn(|j| bound(j, coords[j]));
        let end: [u32; K] = std::array::from_fn(|j| bound(j, coords[j] + 1));
        let reach = match self.rule {
            RuleKind::Closed => std::array::from_fn(|j| (end[j] + 1).min(self.size[j])),
            _ => end,
        };
        let face = |cell: &[u32; K]| (0..K).any(|j| cell[j] == corner[j] || cell[j] + 1 == reach[j]);
        let label = |cell: &[u32; K]| self.array[&place(*cell)[..]];
        let mut deciding = cells(corner, reach);
        deciding.retain(|cell| self.rule == RuleKind::Full || face(cell));
        let uniform = Some(label(&corner)).filter(|&first| deciding.iter().all(|cell| label(cell) == first));
        if self.counts.len() == level {
            self.counts.push([0; 3]);
        }
        let Scheme { r, b, .. } = self.scheme;
        let stops = |j: usize| r[j] > 1 && u64::from(self.size[j]) <= u64::from(b[j]) * grid[j] * u64::from(r[j]);
        if uniform.is_none() && !(0..K).any(stops) {
            self.counts[level][0] += 1;
            let below = std::array::from_fn(|j| grid[j] * u64::from(r[j]));
            for child in cells([0; K], r) {
                let child = std::array::from_fn(|j| coords[j] * u64::from(r[j]) + u64::from(child[j]));
                self.descend(level + 1, below, child);
            }
            return;
        }
        self.counts[level][if uniform.is_some() { 1 } else { 2 }] += 1;
        for cell in cells(corner, end) {
            self.cells[&place(cell)[..]] = uniform.unwrap_or(self.array[&place(cell)[..]]);
        }
        self.terminals.push((corner, std::array::from_fn(|j| end[j] - corner[j]), uniform));
    }
}

/// Boxes of labels painted over each other, and a few single cells.
fn painted<const K: usize>(size: [u32; K], mut seed: u64) -> ArrayD<u32> {
    let mut below = |most: u32| {
        seed = seed.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(0x9e37_79b9);
        (seed >> 33) as u32 % most
    };
    let mut array = ArrayD::zeros(place(size));
    for label in 1..5 {
        let ends: [[u32; 2]; K] = std::array::from_fn(|j| [below(size[j]), below(size[j])]);
        let corner = ends.map(|[a, b]| a.min(b));
        let end = if label == 4 { corner.map(|c| c + 1) } else { ends.map(|[a, b]| a.max(b) + 1) };
        cells(corner, end).into_iter().for_each(|cell| array[&place(cell)[..]] = label);
    }
    array
}

/// The rules that look at cells: an array proves nothing.
const RULES: [RuleKind; 3] = [RuleKind::Border, RuleKind::Closed, RuleKind::Full];

/// Every curve that serves the scheme, and both strategies that divide.
fn agree<const K: usize>(size: [u32; K], scheme: Scheme<K>, rule: RuleKind, seed: u64) -> Result<(), TestCaseError> {
    let array = painted(size, seed);
    let mut naive = Naive {
        array: &array,
        size,
        scheme,
        rule,
        cells: ArrayD::from_elem(place(size), u32::MAX),
        counts: Vec::new(),
        terminals: Vec::new(),
    };
    cells([0; K], scheme.g).into_iter().for_each(|p| naive.descend(0, scheme.g.map(u64::from), p.map(u64::from)));
    naive.terminals.sort_unstable();
    let domain = Domain::new(size, [[0.0, 1.0]; K], Sample::Corner).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    let mut served = 0;
    for &curve in CurveKind::ALL {
        let Ok(plan) = Plan::new(domain, scheme, curve, rule) else { continue };
        served += 1;
        for strategy in [StrategyKind::Ask, StrategyKind::Dp] {
            let run = Run::new(&plan, &field).how(How::default().strategy(strategy)).start().unwrap();
            let counts = run.levels().iter().map(|level| level.counts);
            let counts: Vec<_> = counts.map(|level| [level.subdivided, level.filled, level.leaves]).collect();
            prop_assert_eq!(&counts[..naive.counts.len()], &naive.counts[..], "{} {}", curve, strategy);
            prop_assert!(counts[naive.counts.len()..].iter().all(|level| *level == [0; 3]));
            let mut terminals: Vec<Found<K>> = (run.terminals().iter())
                .map(|terminal| {
                    let Region { corner, extent } = run.region(terminal);
                    let label = match terminal.content() {
                        Content::Uniform(label) => Some(label as u32),
                        Content::Leaf { .. } => None,
                    };
                    (corner, extent, label)
                })
                .collect();
            terminals.sort_unstable();
            prop_assert_eq!(&terminals, &naive.terminals, "{} {}", curve, strategy);
            let found = run.array().unwrap();
            let labels = (0..found.cells().len()).map(|i| found.cells().label(i) as u32);
            prop_assert!(labels.eq(naive.cells.iter().copied()), "{} {}", curve, strategy);
        }
    }
    // Canonical and Morton at least; Hilbert where every axis is split alike.
    let alike = scheme.r.iter().all(|r| *r == scheme.r[0] && r.is_power_of_two() && *r > 1);
    prop_assert_eq!(served, if alike { 3 } else { 2 });
    Ok(())
}

/// A scheme that divides something, and a rule.
fn shape<const K: usize>(most: u32) -> impl Strategy<Value = ([u32; K], Scheme<K>, RuleKind, u64)>
where
    [u32; K]: std::fmt::Debug,
{
    let axis = (1..=most, 1u32..6, prop::sample::select(vec![1u32, 1, 2, 2, 3, 4]), 1u32..6);
    let axes = prop::collection::vec(axis, K);
    (axes, prop::sample::select(RULES.to_vec()), any::<u64>()).prop_filter_map("no axis is split", |case| {
        let (axes, rule, seed) = case;
        let axes: [_; K] = std::array::from_fn(|j| axes[j]);
        let scheme =
            Scheme { g: axes.map(|(n, g, ..)| g.min(n)), r: axes.map(|axis| axis.2), b: axes.map(|axis| axis.3) };
        (scheme.r != [1; K]).then(|| (axes.map(|axis| axis.0), scheme, rule, seed))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_shape_is_subdivided_by_the_rules(
        line in shape::<1>(120), plane in shape::<2>(40), solid in shape::<3>(14), hyper in shape::<4>(7),
    ) {
        agree(line.0, line.1, line.2, line.3)?;
        agree(plane.0, plane.1, plane.2, plane.3)?;
        agree(solid.0, solid.1, solid.2, solid.3)?;
        agree(hyper.0, hyper.1, hyper.2, hyper.3)?;
    }
}

/// Steps of time that are never divided: every slice is subdivided as in the plane.
#[test]
fn slices_of_one_step_are_planes() {
    let (size, steps) = ([24, 40], 5);
    let array = painted([24, 40, steps], 7);
    let scheme = Scheme { g: [3, 2, steps], r: [2, 3, 1], b: [2, 2, 1000] };
    let domain = Domain::new([24, 40, steps], [[0.0, 1.0]; 3], Sample::Corner).unwrap();
    let plan = Plan::new(domain, scheme, CurveKind::Morton, RuleKind::Full).unwrap();
    let field = ArrayField::new(array.view()).unwrap();
    let solid = mixed(&run(&plan, &field).unwrap());
    let flat = Scheme { g: [3, 2], r: [2, 3], b: [2, 2] };
    let domain = Domain::new(size, [[0.0, 1.0]; 2], Sample::Corner).unwrap();
    let plan = Plan::new(domain, flat, CurveKind::Morton, RuleKind::Full).unwrap();
    let mut sums = vec![0; solid.len()];
    for step in 0..steps as usize {
        let slice = array.index_axis(ndarray::Axis(0), step);
        let field = ArrayField::new(slice).unwrap();
        mixed(&run(&plan, &field).unwrap()).into_iter().zip(&mut sums).for_each(|(mixed, sum)| *sum += mixed);
    }
    assert_eq!(solid, sums);
}

/// A ball in a cube, whatever the cells: 1 inside, 0 outside.
struct Ball {
    size: [u32; 3],
}

const RADIUS: f64 = 0.37;
const CENTRE: [f64; 3] = [0.48, 0.53, 0.505];

impl Ball {
    /// Whether the cell is inside, by its centre.
    fn inside(&self, cell: [f64; 3]) -> bool {
        (0..3).map(|j| ((cell[j] + 0.5) / f64::from(self.size[j]) - CENTRE[j]).powi(2)).sum::<f64>() < RADIUS * RADIUS
    }
}

impl Field<3> for Ball {
    fn labels(&self) -> Labels {
        Labels::counts(1)
    }

    fn host(&self) -> Option<&dyn Evaluate<3>> {
        Some(self)
    }

    fn prover(&self) -> Option<&dyn Prove<3>> {
        Some(self)
    }
}

impl Evaluate<3> for Ball {
    fn evaluate(&self, cells: &[[u32; 3]], labels: WordsMut<'_>) {
        labels.put(cells.iter().map(|cell| u32::from(self.inside(cell.map(f64::from)))));
    }
}

impl Prove<3> for Ball {
    /// The cells nearest to the centre and farthest from it decide.
    fn prove(&self, region: &Region<3>, _: Payload) -> Verdict {
        let ends: [[f64; 2]; 3] =
            std::array::from_fn(|j| [f64::from(region.corner[j]), f64::from(region.corner[j] + region.extent[j] - 1)]);
        let centre: [f64; 3] = std::array::from_fn(|j| CENTRE[j] * f64::from(self.size[j]) - 0.5);
        let nearest = std::array::from_fn(|j| centre[j].round().clamp(ends[j][0], ends[j][1]));
        let farthest = std::array::from_fn(|j| {
            let [low, high] = ends[j];
            if centre[j] - low > high - centre[j] { low } else { high }
        });
        match (self.inside(nearest), self.inside(farthest)) {
            (true, false) => Verdict::Mixed,
            (inside, _) => Verdict::Uniform(inside.into()),
        }
    }
}

/// Expected and counted P per level, and the expected regions of all levels over the counted ones.
fn densities(size: [u32; 3], g: [u32; 3], r: [u32; 3]) -> (Vec<[f64; 2]>, f64) {
    let domain = Domain::new(size, [[0.0, 1.0]; 3], Sample::Centre).unwrap();
    let plan = Plan::new(domain, Scheme { g, r, b: [1; 3] }, CurveKind::Morton, RuleKind::Full).unwrap();
    let run = Run::new(&plan, &Ball { size }).how(How::default().keep(Keep::Counts)).start().unwrap();
    let expected = plan.expected_regions(2.0);
    let children = f64::from(r.iter().product::<u32>());
    let pairs =
        expected.windows(2).zip(run.levels()).map(|(pair, level)| [pair[1] / pair[0] / children, level.density()]);
    let counted: u64 = run.levels().iter().map(|level| level.counts.regions).sum();
    (pairs.collect(), expected.iter().sum::<f64>() / counted as f64)
}

#[test]
fn a_boundary_is_met_as_often_as_expected() {
    let near = |size, g, r, levels: std::ops::Range<usize>, p: f64| {
        let (found, share) = densities(size, g, r);
        let off = |[expected, counted]: &[f64; 2]| (expected - p).abs() > 1e-9 || (counted / p - 1.0).abs() > 0.12;
        assert!(!found[levels].iter().any(off), "{found:.3?}");
        assert!((0.45..2.0).contains(&share), "{share}: {found:.3?}");
    };
    // All axes alike: P = r^(d-k).
    near([256; 3], [4; 3], [2; 3], 2..4, 0.5);
    // Steps of one cell: slices, whose boundary is a curve in the plane; fine steps and coarse ones.
    near([128, 128, 512], [4, 4, 512], [2, 2, 1], 1..3, 0.5);
    near([1024, 1024, 2], [4, 4, 2], [2, 2, 1], 1..6, 0.5);
    // Long in time: columns, of which those that the projection meets are mixed at any scale.
    near([1024, 1024, 64], [4, 4, 2], [2, 2, 1], 4..7, 1.0);
    // One axis alone is split, of rows that are long beside or single cells.
    near([256, 16, 16], [2, 4, 4], [2, 1, 1], 4..6, 1.0);
    near([256, 4, 4], [2, 4, 4], [2, 1, 1], 1..5, 0.5);
    // From slices to columns, as the split axes become the finer ones.
    let (found, share) = densities([512; 3], [4, 4, 32], [2, 2, 1]);
    let first = found[1].map(|p| (p - 0.5).abs() < 0.05);
    assert!(first == [true; 2] && found.windows(2).all(|pair| pair[1][1] > pair[0][1]), "{found:.3?}");
    assert!((0.5..2.0).contains(&share), "{share}");
}
