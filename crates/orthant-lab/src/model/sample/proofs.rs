//! What is left to proofs: where a rule asks nothing else, a sample can tell it of every level.
//!
//! A sampled cell lies in one region of each level of 2^i regions per axis. Down to the first of them that the field proves, a
//! subdivision meets it; so the share of the cells that are met is that of the domain which lies in regions that are asked about,
//! and their mean label is the work of a cell there. Proofs need no cells, so no level is too fine for the sample.

use super::share::Share;
use orthant::field::{Field, Payload, Prove};
use orthant::geometry::{Domain, Level, SampleGrid};
use orthant::parallel;
use orthant::rule::Verdict;

/// Cells whose regions one thread proves.
const TOGETHER: usize = 64;

/// Regions of 2^i per axis that nothing proves, nor any region that they lie in.
#[derive(Debug, Clone)]
pub(super) struct Unproven {
    /// Their share of the domain, by i, and before all of it: what there is before anything is asked.
    left: Vec<f64>,
    /// The mean label of their cells.
    work: Vec<f64>,
}

impl Unproven {
    /// By the cells of a grid and their labels; None if the field proves nothing of a region that carries nothing.
    pub(super) fn take<const K: usize>(
        labels: &[u64],
        grid: SampleGrid<K>,
        field: &dyn Field<K>,
        domain: &Domain<K>,
    ) -> Option<Self> {
        let prover = field.prover().filter(|_| field.carrier().is_none())?;
        // Without room for a survey proofs take longer, and say the same.
        let survey = prover.survey(&domain.region()).ok().flatten();
        let prover = survey.as_deref().unwrap_or(prover);
        let least = domain.size().into_iter().min().unwrap_or(1).max(1);
        let levels: Vec<_> = (0..=least.ilog2()).map(|i| Level::of([1 << i; K], domain.size())).collect();
        let cells = grid.cells_from(0, labels.len());
        let mut found = vec![0; cells.len()];
        let some = |i: usize, found: &mut [usize]| {
            for (found, &cell) in found.iter_mut().zip(&cells[i * TOGETHER..]) {
                *found = first(prover, &levels, cell);
            }
        };
        parallel::pieces_mut(&mut found, TOGETHER, &some);
        let (mut left, mut work) = (Vec::new(), Vec::new());
        for level in 0..=levels.len() {
            let met = labels.iter().zip(&found).filter(|&(_, &first)| first >= level);
            let (count, sum) = met.fold((0.0, 0.0), |(count, sum), (&label, _)| (count + 1.0, sum + label as f64));
            left.push(count / labels.len() as f64);
            work.push(if count > 0.0 { sum / count } else { 0.0 });
        }
        Some(Self { left, work })
    }

    /// The regions of `depth` divisions by two that lie in unproven ones of `above`, or all of them.
    pub(super) fn at(&self, above: Option<f64>, depth: f64) -> Share {
        let before = above.map_or(1.0, |above| between(&self.left, above + 1.0));
        let p = if before > 0.0 { between(&self.left, depth + 1.0) / before } else { 0.0 };
        Share { p, inside_work: between(&self.work, depth + 1.0), ..Share::default() }
    }

    /// P of the last division by two that leaves anything.
    pub(super) fn last(&self) -> Option<f64> {
        self.left.windows(2).rev().map(|pair| pair[1] / pair[0]).find(|&p| p > 0.0)
    }
}

/// The first level whose region about a cell is proven; their number if none is.
fn first<const K: usize>(prover: &dyn Prove<K>, levels: &[Level<K>], cell: [u32; K]) -> usize {
    let proves = |level: &Level<K>| {
        matches!(prover.prove(&level.region(level.coords(cell)), Payload::default()), Verdict::Uniform(_))
    };
    levels.iter().position(proves).unwrap_or(levels.len())
}

/// A list between its places, and its ends beyond them.
fn between(list: &[f64], place: f64) -> f64 {
    let place = place.clamp(0.0, (list.len() - 1) as f64);
    let (low, high) = (list[place.floor() as usize], list[place.ceil() as usize]);
    low + (high - low) * place.fract()
}
