//! The way down the levels of a scheme, each by what is expected to be left of the one above.

use super::coarse::Coarse;
use crate::model::observed::LevelWork;
use crate::model::streams;
use orthant::backend::ExploreOrder;
use orthant::geometry::{Level, Scheme};
use orthant::here;
use orthant::result::Keep;

impl<const K: usize> Coarse<K> {
    /// What the levels of a scheme are expected to do, down to where less than half a region is left.
    pub fn levels(&self, scheme: &Scheme<K>, keep: Keep) -> Vec<LevelWork> {
        here!(fn(&Coarse<K>, &Scheme<K>, Keep) -> Vec<LevelWork> = Coarse::levels_here)(self, scheme, keep)
    }

    fn levels_here(&self, scheme: &Scheme<K>, keep: Keep) -> Vec<LevelWork> {
        self.levels_by(self.descend(scheme, keep), scheme)
    }

    /// The same of streams, which evaluate a cell on faces that regions share once for all of them.
    pub fn levels_of_streams(&self, scheme: &Scheme<K>, keep: Keep) -> Vec<LevelWork> {
        self.levels_by(self.descend(scheme, keep).of_streams(), scheme)
    }

    fn levels_by(&self, mut descent: Descent<'_, K>, scheme: &Scheme<K>) -> Vec<LevelWork> {
        let mut levels = scheme.levels(self.size()).into_iter().peekable();
        let mut found = Vec::new();
        while let Some(level) = levels.next() {
            let Some(expected) = descent.enter(&level) else { break };
            found.push(if levels.peek().is_some() { expected.inner } else { expected.last });
        }
        found
    }

    /// What of a scheme's levels is expected to be mixed, each of those below the mixed ones of the level above, if that was
    /// sampled on every level.
    pub(in crate::model) fn profile(&self, scheme: &Scheme<K>) -> Option<Vec<f64>> {
        self.proofs.as_ref()?;
        let mixed = |level: LevelWork| (level.divided + level.leaves) / level.regions;
        let mut densities: Vec<f64> = self.levels(scheme, Keep::Counts).into_iter().map(mixed).collect();
        // Below a level of which nothing is left nothing is asked.
        densities.resize(scheme.levels(self.size()).len(), 0.0);
        Some(densities)
    }

    /// The way down the levels of any scheme with this g and r.
    pub(in crate::model) fn descend(&self, scheme: &Scheme<K>, keep: Keep) -> Descent<'_, K> {
        Descent::new(self, scheme, keep)
    }
}

/// Levels one below the other, each by what is left of the one above.
pub(in crate::model) struct Descent<'a, const K: usize> {
    coarse: &'a Coarse<K>,
    keep: Keep,
    r: [u32; K],
    /// R.
    children: f64,
    /// True if cells on faces are evaluated once, for all regions that share them.
    shares_faces: bool,
    /// The level above, its depth in divisions by two, and its mixed regions.
    above: Option<(Level<K>, f64, f64)>,
    /// [`Coarse::stretch`] of the level above.
    stretch: f64,
}

/// What a level is expected to do.
pub(in crate::model) struct Expected {
    /// If its mixed regions are divided.
    pub(in crate::model) inner: LevelWork,
    /// If they are leaves.
    pub(in crate::model) last: LevelWork,
}

impl<'a, const K: usize> Descent<'a, K> {
    /// From the roots of any scheme with this g and r.
    pub(super) fn new(coarse: &'a Coarse<K>, scheme: &Scheme<K>, keep: Keep) -> Self {
        let children = scheme.children() as f64;
        Self { coarse, keep, r: scheme.r, children, shares_faces: false, above: None, stretch: 1.0 }
    }

    /// The same way down in a stream: where proofs alone decide, there is no other.
    pub(in crate::model) fn of_streams(self) -> Self {
        Self { shares_faces: self.coarse.looks(), ..self }
    }

    /// Cells on the planes that a level adds: about the roots, or between the children of what is mixed above.
    fn added_faces(&self, level: &Level<K>) -> f64 {
        let size = self.coarse.size();
        match &self.above {
            None => level.regions() as f64 * streams::on_planes(size, level, streams::about_roots(level)),
            Some((above, _, mixed)) => mixed * streams::on_planes(size, above, streams::between_children(self.r)),
        }
    }

    /// The next level; None if less than half a region of it is expected.
    pub(in crate::model) fn enter(&mut self, level: &Level<K>) -> Option<Expected> {
        let coarse = self.coarse;
        let above = self.above.as_ref().map(|&(_, depth, mixed)| (depth, mixed));
        let regions = above.map_or(level.regions() as f64, |(_, mixed)| mixed * self.children);
        if above.is_some() && regions < 0.5 {
            return None;
        }
        // Per axis the geometric mean.
        let depth = (level.regions() as f64).log2() / K as f64;
        let (volume, border) = coarse.decisive(level);
        let share = coarse.at(above.map(|(depth, _)| depth), depth);
        let stretch = coarse.stretch(level, self.r, depth);
        let mixed = regions * (share.p * (stretch / self.stretch)).min(1.0);
        let uniform = regions - mixed;
        let visited = match coarse.explore.order {
            ExploreOrder::Scattered => share.visited.min(border),
            _ => border,
        };
        let (of_uniform, of_mixed, leaf) = match self.shares_faces {
            false => (uniform * share.uniform_looked * border, mixed * share.mixed_looked * visited, volume),
            true => {
                let added = self.added_faces(level);
                (added * uniform / regions, added * mixed / regions, streams::inside(coarse.size(), level))
            }
        };
        let iterations = of_uniform * share.uniform_work + of_mixed * share.mixed_work;
        let evaluated = if self.keep == Keep::Counts { 0.0 } else { mixed * leaf };
        let inner = LevelWork {
            lattice: level.regions() as f64,
            volume,
            side: f64::from(coarse.size()[0]) / f64::from(level.grid[0]),
            regions,
            divided: mixed,
            filled: uniform,
            leaves: 0.0,
            deciding: border,
            explored: of_uniform + of_mixed,
            filled_cells: if self.keep == Keep::Dense { uniform * volume } else { 0.0 },
            evaluated: 0.0,
            iterations: coarse.work.map(|_| iterations),
        };
        let last = LevelWork {
            divided: 0.0,
            leaves: mixed,
            evaluated,
            iterations: coarse.work.map(|_| iterations + evaluated * share.inside_work),
            ..inner
        };
        self.above = Some((*level, depth, mixed));
        self.stretch = stretch;
        Some(Expected { inner, last })
    }
}
