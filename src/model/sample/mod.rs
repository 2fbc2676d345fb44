//! What a coarse sample of a field says of the levels of any scheme: P per level, and the work of its cells.
//!
//! Cells on a lattice through the whole domain are evaluated once; then every region of 1, 2, 4, .. per axis that is at
//! least two of them wide is judged by the plan's own rule on those cells alone. How much a level costs depends on which
//! regions are still examined there, so what is asked for is always the mean over the regions of level i below the mixed
//! ones of level j. Below the finest level that the sample resolves, P follows the box dimension that its last step
//! shows, P_i = r^(d−k), and the work of cells goes on as it went on that step.

mod judge;

use rayon::prelude::*;

use self::judge::{Judge, Node, lattice};
use super::observed::{LevelWork, deciding};
use crate::domain::Domain;
use crate::how::{ExploreOrder, Keep};
use crate::plan::{ExploreRule, Level, Plan};
use crate::region::Region;
use crate::workload::Workload;

/// Sampled cells per region side below which a level is not believed.
const LEAST_SIDE: u32 = 4;

/// Cells evaluated per task.
const TASK: usize = 1024;

/// How exploration goes on after a first round of cells: rounds double up to the last size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rounds {
    /// Cells of the first round.
    pub first: u64,
    /// Most cells of a round.
    pub last: u64,
}

impl Rounds {
    /// Expected cells visited of a mixed region of which a share `others` of the deciding cells differs from the first:
    /// rounds go on while none of them was met.
    fn visited(self, others: f64) -> f64 {
        let (mut seen, mut round, mut expected, mut going) = (0.0, self.first as f64, 0.0, 1.0);
        while going > 1e-3 && others > 0.0 {
            expected += going * round;
            seen += round;
            going = (1.0 - others).powf(seen - 1.0);
            round = (2.0 * round).min(self.last as f64);
        }
        expected
    }
}

/// How a run explores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Explore {
    /// What decides a region.
    pub rule: ExploreRule,
    /// In which order its cells are visited.
    pub order: ExploreOrder,
    /// How many at a time.
    pub rounds: Rounds,
}

/// A coarse sample of a field.
#[derive(Debug, Clone)]
pub struct Coarse<const K: usize> {
    /// Cells that were evaluated.
    cells: u64,
    /// Per level of 2^i regions per axis: all of them, then those below the mixed ones of level 0, 1, .., i.
    shares: Vec<Vec<Share>>,
    /// P of a division by two below it.
    below: f64,
    /// True if labels are iterations.
    iterations: bool,
    order: ExploreOrder,
}

/// Regions of a level below the mixed regions of another, on average.
#[derive(Debug, Clone, Copy, Default)]
struct Share {
    /// The share that is mixed.
    p: f64,
    /// Mean work of a visited cell of uniform and of mixed regions.
    uniform_work: f64,
    mixed_work: f64,
    /// Mean work of a cell inside a mixed region.
    inside_work: f64,
    /// The share of uniform and of mixed regions that are decided by looking at cells.
    uniform_looked: f64,
    mixed_looked: f64,
    /// Cells visited of a mixed region.
    visited: f64,
}

/// How much the work of a cell may change from one division to the next where the sample does not show it.
const TREND: [f64; 2] = [0.7, 1.0];

impl Share {
    /// The mean over the regions of `level` whose ancestor on `parent` is mixed; over all without a parent.
    fn new<const K: usize>(levels: &[Vec<Node>], parent: Option<usize>, level: usize, explore: Explore) -> Self {
        let mut sum = Self::default();
        let (mut mixed, mut uniform, mut mixed_looked, mut uniform_looked) = (0.0, 0.0, 0.0, 0.0);
        let lattice = Region { corner: [0; K], extent: [1u32 << level; K] };
        for (index, node) in levels[level].iter().enumerate() {
            if let Some(parent) = parent {
                let coords = lattice.offset(index as u64);
                let above = coords.iter().rev().fold(0, |at, &p| (at << parent) + (p as usize >> (level - parent)));
                if !levels[parent][above].mixed {
                    continue;
                }
            }
            let looked = f64::from(u8::from(!node.proven));
            if node.mixed {
                mixed += 1.0;
                mixed_looked += looked;
                sum.mixed_work += node.border;
                sum.inside_work += node.inside;
                sum.visited += explore.rounds.visited(node.others);
            } else {
                uniform += 1.0;
                uniform_looked += looked;
                sum.uniform_work += node.border;
            }
        }
        let mean = |sum: f64, of: f64| if of > 0.0 { sum / of } else { 0.0 };
        Self {
            p: mean(mixed, mixed + uniform),
            uniform_work: mean(sum.uniform_work, uniform),
            mixed_work: mean(sum.mixed_work, mixed),
            inside_work: mean(sum.inside_work, mixed),
            uniform_looked: mean(uniform_looked, uniform),
            mixed_looked: mean(mixed_looked, mixed),
            visited: mean(sum.visited, mixed),
        }
    }

    /// With the work of cells changed as it did from the division before, `beyond` times more: nearer to the boundary
    /// there are fewer cells of extreme work.
    fn scaled(self, beyond: f64, before: Self) -> Self {
        let on = |now: f64, then: f64| match then > 0.0 {
            true => now * (now / then).clamp(TREND[0], TREND[1]).powf(beyond),
            false => now,
        };
        Self {
            uniform_work: on(self.uniform_work, before.uniform_work),
            mixed_work: on(self.mixed_work, before.mixed_work),
            inside_work: on(self.inside_work, before.inside_work),
            ..self
        }
    }
}

impl<const K: usize> Coarse<K> {
    /// Evaluates at most `budget` cells of `workload` over `domain`, on the CPU, for runs that explore like this.
    pub fn take(workload: &dyn Workload<K>, domain: &Domain<K>, budget: u64, explore: Explore) -> Self {
        let lattice = lattice(domain.size(), budget);
        let whole = Region { corner: [0; K], extent: lattice };
        let mut points = Vec::new();
        whole.extend_cells(&mut points);
        for point in &mut points {
            *point = std::array::from_fn(|j| {
                // Below n, which has 32 bits.
                (u64::from(point[j]) * u64::from(domain.size()[j]) / u64::from(lattice[j])) as u32
            });
        }
        let mut labels = vec![0; points.len()];
        let tasks = points.par_chunks(TASK).zip(labels.par_chunks_mut(TASK));
        tasks.for_each(|(points, labels)| workload.evaluate(points, labels));
        let least = lattice.into_iter().min().unwrap_or(1);
        let finest = (least / LEAST_SIDE).max(1).ilog2() as usize;
        let judge = Judge { labels: &labels, lattice, rule: explore.rule, workload, domain };
        let levels: Vec<Vec<Node>> = (0..=finest).into_par_iter().map(|i| judge.level(i)).collect();
        let shares = (0..=finest)
            .map(|level| {
                let parents = [None].into_iter().chain((0..=level).map(Some));
                parents.map(|parent| Share::new::<K>(&levels, parent, level, explore)).collect()
            })
            .collect();
        let mut coarse = Self {
            cells: labels.len() as u64,
            shares,
            below: 2f64.powf(workload.boundary_dimension() - K as f64),
            iterations: workload.labels_count_iterations(),
            order: explore.order,
        };
        if finest > 0 {
            let last = coarse.share(Some(finest - 1), finest);
            if last.p > 0.0 {
                coarse.below = last.p;
            }
        }
        coarse
    }

    /// Cells that were evaluated.
    pub fn cells(&self) -> u64 {
        self.cells
    }

    /// d, from P = 2^(d−k) of the last division that the sample shows.
    pub fn box_dimension(&self) -> f64 {
        (K as f64 + self.below.log2()).clamp(0.0, K as f64)
    }

    /// What the levels of `plan` are expected to do.
    pub fn levels(&self, plan: &Plan<K>, keep: Keep) -> Vec<LevelWork> {
        let mut found = Vec::new();
        let mut regions = plan.levels()[0].regions() as f64;
        let mut above: Option<f64> = None;
        for level in plan.levels() {
            // The depth of a lattice in divisions by two, per axis the geometric mean.
            let depth = (level.regions() as f64).log2() / K as f64;
            let (volume, border) = decisive(plan, level);
            let share = self.at(above, depth);
            let mixed = regions * share.p;
            let uniform = regions - mixed;
            let last = plan.is_last(level.index);
            let visited = match self.order {
                ExploreOrder::Scattered => share.visited.min(border),
                ExploreOrder::Paper => border,
            };
            let of_uniform = uniform * share.uniform_looked * border;
            let of_mixed = mixed * share.mixed_looked * visited;
            let evaluated = if last && keep != Keep::Counts { mixed * volume } else { 0.0 };
            let iterations =
                of_uniform * share.uniform_work + of_mixed * share.mixed_work + evaluated * share.inside_work;
            found.push(LevelWork {
                regions,
                divided: if last { 0.0 } else { mixed },
                filled: uniform,
                leaves: if last { mixed } else { 0.0 },
                deciding: border,
                explored: of_uniform + of_mixed,
                filled_cells: if keep == Keep::Dense { uniform * volume } else { 0.0 },
                evaluated,
                iterations: self.iterations.then_some(iterations),
            });
            regions = mixed * plan.scheme().children() as f64;
            above = Some(depth);
            if regions < 0.5 {
                break;
            }
        }
        found
    }

    /// The regions of `depth` divisions by two below the mixed ones of `above`, or all of them.
    fn at(&self, above: Option<f64>, depth: f64) -> Share {
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
}

/// Cells of a region of a level, and those that decide it, on average.
fn decisive<const K: usize>(plan: &Plan<K>, level: &Level<K>) -> (f64, f64) {
    let size = plan.domain().size();
    let sides: [f64; K] = std::array::from_fn(|j| f64::from(size[j]) / f64::from(level.grid[j]));
    (sides.iter().product(), deciding(plan.explore(), sides.into_iter()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::Control;
    use crate::curve::CurveKind;
    use crate::domain::Sample;
    use crate::engine;
    use crate::how::How;
    use crate::plan::Scheme;
    use crate::subdivision::LevelCounts;
    use crate::workload::{FieldOptions, mandelbrot, simplex};

    const ROUNDS: Rounds = Rounds { first: crate::cpu::FIRST_ROUND, last: crate::cpu::LAST_ROUND };

    /// Expected levels beside those of a run.
    fn levels<const K: usize>(
        plan: &Plan<K>,
        workload: &dyn Workload<K>,
        budget: u64,
    ) -> Vec<(LevelWork, LevelCounts)> {
        let how = How::default();
        let explore = Explore { rule: plan.explore(), order: how.order, rounds: ROUNDS };
        let coarse = Coarse::take(workload, plan.domain(), budget, explore);
        assert!(coarse.cells() <= budget);
        let run = engine::run(plan, workload, &how, &Control::default()).unwrap();
        let expected = coarse.levels(plan, how.keep);
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
            let plan = Plan::new(domain, Scheme::uniform(g, r, b), CurveKind::Morton, ExploreRule::Border).unwrap();
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
        let plan = Plan::new(domain, Scheme::uniform(4, 2, 4), CurveKind::Morton, ExploreRule::Full).unwrap();
        for (level, counts) in levels(&plan, &*field, 1 << 15) {
            assert_eq!((level.regions, level.divided), (counts.regions as f64, counts.subdivided as f64));
            assert_eq!((level.explored, level.iterations), (0.0, None));
        }
        let explore = Explore { rule: ExploreRule::Full, order: ExploreOrder::Scattered, rounds: ROUNDS };
        let coarse = Coarse::take(&*field, &domain, 1 << 15, explore);
        assert!((coarse.box_dimension() - 2.0).abs() < 1e-12);
    }

    #[test]
    fn rounds_end_where_the_label_changes() {
        assert_eq!((ROUNDS.visited(1.0), ROUNDS.visited(0.0)), (16.0, 0.0));
        assert!(ROUNDS.visited(0.5) < 16.1 && ROUNDS.visited(0.01) > 48.0);
    }
}
