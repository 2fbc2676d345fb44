//! A coarse sample: regions of 1, 2, 4, .. per axis judged once, and what is left of them at any depth.

use super::judge::Judge;
use super::proofs::Unproven;
use super::share::Share;
use crate::model::observed::LevelWork;
use crate::model::rounds::Rounds;
use orthant::backend::ExploreOrder;
use orthant::field::Field;
use orthant::geometry::{Domain, Level, SampleGrid, boundary};
use orthant::per_axis;
use orthant::rule::RuleKind;

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
    pub(super) explore: Explore,
    /// Per level of 2^i regions per axis: all of them, then those below the mixed ones of level 0, 1, .., i.
    shares: Vec<Vec<Share>>,
    /// P of a division by two below it.
    below: f64,
    /// What proofs leave, if they decide alone.
    pub(super) proofs: Option<Unproven>,
    /// The mean label of a cell, if labels are iterations.
    pub(super) work: Option<f64>,
}

impl<const K: usize> Coarse<K> {
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

    /// False if proofs alone decide.
    pub(in crate::model) fn looks(&self) -> bool {
        !self.explore.rule.certifies()
    }

    /// What an exhaustive run does: every cell, each with its label's work.
    pub fn whole(&self) -> LevelWork {
        let cells = self.size().iter().map(|&n| f64::from(n)).product();
        let iterations = self.work.map(|work| work * cells);
        LevelWork { regions: 1.0, leaves: 1.0, evaluated: cells, iterations, ..LevelWork::default() }
    }

    /// How many times as many regions of a lattice are mixed as of one with as many regions that are alike on every axis, by
    /// the box dimension.
    pub(super) fn stretch(&self, level: &Level<K>, r: [u32; K], depth: f64) -> f64 {
        if level.grid == [level.grid[0]; K] && !r.contains(&1) {
            return 1.0;
        }
        let (d, size) = (self.box_dimension(), self.size());
        let grid = boundary::Grid::new((0..K).map(|j| [size[j], level.grid[j], r[j]].map(u64::from)));
        grid.met(d) / 2f64.powf(depth * (d - K as f64))
    }

    /// The regions of `depth` divisions by two below the mixed ones of `above`, or all of them.
    pub(super) fn at(&self, above: Option<f64>, depth: f64) -> Share {
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
    pub(super) fn decisive(&self, level: &Level<K>) -> (f64, f64) {
        let size = self.size();
        let sides: [f64; K] = per_axis::each(|j| f64::from(size[j]) / f64::from(level.grid[j]));
        (sides.iter().product(), self.explore.rule.cost(sides.into_iter()))
    }
}
