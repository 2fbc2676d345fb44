//! What a coarse sample of a field says of the levels of any scheme: P per level, and the work of its cells.
//!
//! Cells on a grid through the whole domain are evaluated once; then every region of 1, 2, 4, .. per axis that is at
//! least two of them wide is judged by the plan's own rule on those cells alone. How much a level costs depends on which
//! regions are still examined there, so what is asked for is always the mean over the regions of level i below the mixed
//! ones of level j. Below the finest level that the sample resolves, P follows the box dimension that its last step
//! shows, P_i = r^(d−k), and the work of cells goes on as it went on that step. Where proofs decide alone, every level is sampled.
//! Lattices whose axes are split unequally take
//! the P of one with as many regions, times what a boundary of that dimension meets more of them.

mod descent;
mod judge;
mod proofs;
mod share;

pub(super) use self::descent::Descent;
use self::judge::Judge;
use self::proofs::Unproven;
use self::share::Share;
use super::observed::LevelWork;
use super::rounds::Rounds;
use crate::backend::ExploreOrder;
use crate::field::Field;
use crate::geometry::{Domain, Level, SampleGrid, Scheme, boundary};
use crate::result::Keep;
use crate::rule::RuleKind;

/// Sampled cells per region side below which a level is not believed.
const LEAST_SIDE: u32 = 4;

/// How a run explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explore {
    /// What decides a region.
    pub rule: RuleKind,
    /// True if the field is asked for proofs first.
    pub proves: bool,
    /// In which order its cells are visited.
    pub order: ExploreOrder,
    /// How many at a time.
    pub rounds: Rounds,
}

/// A coarse sample of a field.
#[derive(Debug, Clone)]
pub struct Coarse<const K: usize> {
    grid: SampleGrid<K>,
    explore: Explore,
    /// Per level of 2^i regions per axis: all of them, then those below the mixed ones of level 0, 1, .., i.
    shares: Vec<Vec<Share>>,
    /// P of a division by two below it.
    below: f64,
    /// What proofs leave, if they decide alone.
    proofs: Option<Unproven>,
    /// The mean label of a cell, if labels are iterations.
    work: Option<f64>,
}

impl<const K: usize> Coarse<K> {
    /// Evaluates at most `budget` cells of `field` over `domain`, on the CPU, for runs that explore like this.
    #[cfg(test)]
    pub(super) fn take(field: &dyn Field<K>, domain: &Domain<K>, budget: u64, explore: Explore) -> Self {
        let grid = SampleGrid::new(domain.size(), budget);
        let mut labels = vec![0u32; grid.cells() as usize];
        let host = field.host().expect("tests evaluate here");
        host.evaluate(&grid.cells_from(0, labels.len()), crate::cell::WordsMut::Narrow(&mut labels));
        let labels: Vec<u64> = labels.into_iter().map(u64::from).collect();
        Self::new(&labels, grid, field, domain, explore)
    }

    /// What `labels`, those of `field` on the grid of `domain` in storage order, say of runs that explore like this.
    ///
    /// # Panics
    /// If there is not a label for every point.
    pub fn new(
        labels: &[u64],
        grid: SampleGrid<K>,
        field: &dyn Field<K>,
        domain: &Domain<K>,
        explore: Explore,
    ) -> Self {
        assert_eq!((labels.len() as u64, grid.size()), (grid.cells(), domain.size()), "a label for every point");
        let least = grid.points().into_iter().min().unwrap_or(1);
        let finest = (least / LEAST_SIDE).max(1).ilog2() as usize;
        let proofs = if explore.rule.certifies() { Unproven::take(labels, grid, field, domain) } else { None };
        let levels = Judge { labels, grid, rule: explore.rule, proves: explore.proves, field, domain }.levels(finest);
        let mut coarse = Self {
            grid,
            explore,
            shares: Share::all::<K>(&levels, explore.rounds),
            below: 2f64.powf(field.boundary_dimension() - K as f64),
            proofs,
            work: field.labels().work().then(|| labels.iter().sum::<u64>() as f64 / labels.len() as f64),
        };
        if let Some(p) = coarse.proofs.as_ref().and_then(Unproven::last) {
            coarse.below = p;
        } else if finest > 0 {
            let last = coarse.share(Some(finest - 1), finest);
            if last.p > 0.0 {
                coarse.below = last.p;
            }
        }
        coarse
    }

    /// Cells that were evaluated.
    pub fn cells(&self) -> u64 {
        self.grid.cells()
    }

    /// Cells of the domain per axis.
    pub fn size(&self) -> [u32; K] {
        self.grid.size()
    }

    /// d, from P = 2^(d−k) of the last division that the sample shows.
    pub fn box_dimension(&self) -> f64 {
        (K as f64 + self.below.log2()).clamp(0.0, K as f64)
    }

    /// What the levels of a scheme are expected to do, down to where less than half a region is left.
    pub fn levels(&self, scheme: &Scheme<K>, keep: Keep) -> Vec<LevelWork> {
        self.levels_by(self.descend(scheme, keep), scheme)
    }

    /// The same of streams, which evaluate a cell on faces that regions share once for all of them.
    pub fn levels_of_streams(&self, scheme: &Scheme<K>, keep: Keep) -> Vec<LevelWork> {
        self.levels_by(self.descend(scheme, keep).of_streams(), scheme)
    }

    fn levels_by(&self, mut descent: Descent<'_, K>, scheme: &Scheme<K>) -> Vec<LevelWork> {
        let mut levels = scheme.levels(self.size()).peekable();
        let mut found = Vec::new();
        while let Some(level) = levels.next() {
            let Some(expected) = descent.enter(&level) else { break };
            found.push(if levels.peek().is_some() { expected.inner } else { expected.last });
        }
        found
    }

    /// False if proofs alone decide.
    pub(super) fn looks(&self) -> bool {
        !self.explore.rule.certifies()
    }

    /// What an exhaustive run does: every cell, each with its label's work.
    pub fn whole(&self) -> LevelWork {
        let cells = self.size().iter().map(|&n| f64::from(n)).product();
        let iterations = self.work.map(|work| work * cells);
        LevelWork { regions: 1.0, leaves: 1.0, evaluated: cells, iterations, ..LevelWork::default() }
    }

    /// What of a scheme's levels is expected to be mixed, each of those below the mixed ones of the level above, if that was
    /// sampled on every level.
    pub(super) fn profile(&self, scheme: &Scheme<K>) -> Option<Vec<f64>> {
        self.proofs.as_ref()?;
        let mixed = |level: LevelWork| (level.divided + level.leaves) / level.regions;
        let mut densities: Vec<f64> = self.levels(scheme, Keep::Counts).into_iter().map(mixed).collect();
        // Below a level of which nothing is left nothing is asked.
        densities.resize(scheme.levels(self.size()).count(), 0.0);
        Some(densities)
    }

    /// How many times as many regions of a lattice are mixed as of one with as many regions that are alike on every axis, by
    /// the box dimension.
    fn stretch(&self, level: &Level<K>, r: [u32; K], depth: f64) -> f64 {
        if level.grid == [level.grid[0]; K] && !r.contains(&1) {
            return 1.0;
        }
        let (d, size) = (self.box_dimension(), self.size());
        let grid = boundary::Grid::new((0..K).map(|j| [size[j], level.grid[j], r[j]].map(u64::from)));
        grid.met(d) / 2f64.powf(depth * (d - K as f64))
    }

    /// The way down the levels of any scheme with this g and r.
    pub(super) fn descend(&self, scheme: &Scheme<K>, keep: Keep) -> Descent<'_, K> {
        Descent::new(self, scheme, keep)
    }

    /// The regions of `depth` divisions by two below the mixed ones of `above`, or all of them.
    fn at(&self, above: Option<f64>, depth: f64) -> Share {
        if let Some(proofs) = &self.proofs {
            return proofs.at(above, depth);
        }
        let finest = (self.shares.len() - 1) as f64;
        let beyond = (depth - finest).max(0.0);
        let level = depth.min(finest).round() as usize;
        let Some(above) = above else {
            let share = self.share(None, level);
            return Share { p: share.p * self.below.powf(beyond), ..share };
        };
        // As far above the finest level as above this one: the same neighbourhood, seen at a coarser scale.
        let parent = ((depth.min(finest) - (depth - above)).max(0.0).round() as usize).min(level);
        let share = self.share(Some(parent), level);
        let share = match parent {
            1.. if beyond > 0.0 => share.scaled(beyond, self.share(Some(parent - 1), level - 1)),
            _ => share,
        };
        let p = match above >= finest {
            true => self.below.powf(depth - above),
            false => self.share(Some(above.round() as usize), level).p * self.below.powf(beyond),
        };
        Share { p, ..share }
    }

    /// The mean over the regions of `level` whose ancestor on `parent` is mixed; over all without a parent.
    fn share(&self, parent: Option<usize>, level: usize) -> Share {
        self.shares[level][parent.map_or(0, |parent| parent.min(level) + 1)]
    }

    /// Cells of a region of a level, and those that decide it, on average.
    fn decisive(&self, level: &Level<K>) -> (f64, f64) {
        let size = self.size();
        let sides: [f64; K] = std::array::from_fn(|j| f64::from(size[j]) / f64::from(level.grid[j]));
        (sides.iter().product(), self.explore.rule.cost(sides.into_iter()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::{FIRST_ROUND, How, LAST_ROUND};
    use crate::curve::CurveKind;
    use crate::engine::run;
    use crate::field::{FieldOptions, mandelbrot, simplex};
    use crate::geometry::Sample;
    use crate::plan::Plan;
    use crate::result::LevelCounts;

    const ROUNDS: Rounds = Rounds { first: FIRST_ROUND, last: LAST_ROUND };

    /// Expected levels beside those of a run.
    fn levels<const K: usize>(plan: &Plan<K>, field: &dyn Field<K>, budget: u64) -> Vec<(LevelWork, LevelCounts)> {
        let how = How::default();
        let explore = Explore {
            rule: plan.rule(),
            proves: how.tuning.asks_proofs(plan.rule()),
            order: how.tuning.explore_order,
            rounds: ROUNDS,
        };
        let coarse = Coarse::take(field, plan.domain(), budget, explore);
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
        let coarse = Coarse::take(&*field, &domain, 1 << 15, explore);
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
        let options = FieldOptions { dwell: 64, ..FieldOptions::default() };
        let window = [[-1.5, 1.5], [-1.5, 1.5], [-1.5, 0.5], [-1.0, 1.0]];
        let julibrot = Domain::new([32; 4], window, Sample::Centre).unwrap();
        check(&*crate::field::julibrot::open(&julibrot, &options).unwrap(), julibrot, (2, 1));
        let bulb = Domain::new([128; 3], [[-1.2, 1.2]; 3], Sample::Centre).unwrap();
        check(&*crate::field::mandelbulb::open(&bulb, &options).unwrap(), bulb, (4, 2));
        let plane = Domain::new([900; 2], [[-1.5, 0.5], [-1.0, 1.0]], Sample::Corner).unwrap();
        check(&*mandelbrot::open(&plane, &options).unwrap(), plane, (6, 4));
    }

    #[test]
    fn axes_that_are_not_split_are_expected_too() {
        let (size, radius) = ([128; 3], 0.37f64);
        let domain = Domain::new(size, [[0.0, 1.0]; 3], Sample::Corner).unwrap();
        let field = crate::field::CellField::new(1, move |cell: [u32; 3]| {
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

    #[test]
    fn rounds_end_where_the_label_changes() {
        assert_eq!((ROUNDS.visited(1.0), ROUNDS.visited(0.0)), (16.0, 0.0));
        assert!(ROUNDS.visited(0.5) < 16.1 && ROUNDS.visited(0.01) > 48.0);
    }
}
