//! Means over the regions of a level below the mixed ones of another.

use super::judge::{Node, ancestor};
use crate::model::rounds::Rounds;

/// Regions of a level below the mixed regions of another, on average.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Share {
    /// The share that is mixed.
    pub(super) p: f64,
    /// Mean work of a visited cell of uniform and of mixed regions.
    pub(super) uniform_work: f64,
    pub(super) mixed_work: f64,
    /// Mean work of a cell inside a mixed region.
    pub(super) inside_work: f64,
    /// The share of uniform and of mixed regions that are decided by looking at cells.
    pub(super) uniform_looked: f64,
    pub(super) mixed_looked: f64,
    /// Cells visited of a mixed region.
    pub(super) visited: f64,
}

/// How much the work of a cell may change from one division to the next where the sample does not show it.
const TREND: [f64; 2] = [0.7, 1.0];

/// What is left of that change at each division: work falls towards what cells at the boundary take. Mandelbrot 16384 has 194, 90, 79,
/// 68, 61 and 61 iterations per cell of the faces that levels add.
const DAMPING: f64 = 0.5;

impl Share {
    /// Per level: all its regions, then those below the mixed ones of level 0, 1, .., and of itself.
    pub(super) fn all<const K: usize>(levels: &[Vec<Node>], rounds: Rounds) -> Vec<Vec<Self>> {
        // Per region of the level above a set of bits: it belongs to all, and to those below a mixed one of level i.
        let mut above: Vec<u32> = Vec::new();
        let mut shares = Vec::new();
        for (level, nodes) in levels.iter().enumerate() {
            let mut sums = vec![Sums::default(); level + 2];
            let count = |(place, node): (usize, &Node)| {
                let inherited = if level == 0 { 1 } else { above[ancestor::<K>(place, level, level - 1)] };
                let groups = inherited | u32::from(node.mixed) << (level + 1);
                let visited = if node.mixed { rounds.visited(node.others) } else { 0.0 };
                let mut rest = groups;
                while rest > 0 {
                    sums[rest.trailing_zeros() as usize].add(node, visited);
                    rest &= rest - 1;
                }
                groups
            };
            above = nodes.iter().enumerate().map(count).collect();
            shares.push(sums.into_iter().map(Sums::mean).collect());
        }
        shares
    }

    /// With the work of cells changed as it did from the division before, `beyond` times more, and ever less: nearer to the boundary
    /// there are fewer cells of extreme work.
    pub(super) fn scaled(self, beyond: f64, before: Self) -> Self {
        let times = (1.0 - DAMPING.powf(beyond)) / (1.0 - DAMPING);
        let on = |now: f64, then: f64| match then > 0.0 {
            true => now * (now / then).clamp(TREND[0], TREND[1]).powf(times),
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

/// What a share is the mean of.
#[derive(Debug, Clone, Copy, Default)]
struct Sums {
    mixed: f64,
    uniform: f64,
    sum: Share,
}

impl Sums {
    fn add(&mut self, node: &Node, visited: f64) {
        let looked = f64::from(u8::from(!node.proven));
        if node.mixed {
            self.mixed += 1.0;
            self.sum.mixed_looked += looked;
            self.sum.mixed_work += node.border;
            self.sum.inside_work += node.inside();
            self.sum.visited += visited;
        } else {
            self.uniform += 1.0;
            self.sum.uniform_looked += looked;
            self.sum.uniform_work += node.border;
        }
    }

    fn mean(self) -> Share {
        let Self { mixed, uniform, sum } = self;
        let mean = |sum: f64, of: f64| if of > 0.0 { sum / of } else { 0.0 };
        Share {
            p: mean(mixed, mixed + uniform),
            uniform_work: mean(sum.uniform_work, uniform),
            mixed_work: mean(sum.mixed_work, mixed),
            inside_work: mean(sum.inside_work, mixed),
            uniform_looked: mean(sum.uniform_looked, uniform),
            mixed_looked: mean(sum.mixed_looked, mixed),
            visited: mean(sum.visited, mixed),
        }
    }
}
