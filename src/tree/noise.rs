//! How noisy an array is, from some of its regions: before an hour is spent on a tree that does not pay.

use std::time::{Duration, Instant};

use crate::backend::Control;
use crate::dimension::here;
use crate::result::Cells;
use crate::tree::bottom_up::{BLOCK, BottomUp};
use crate::tree::error::TreeError;

/// Regions of the last level that are looked at, at most.
const REGIONS: u128 = 256;

/// Shares of the leaves for which a tolerance is asked.
const SHARES: [f64; 3] = [0.5, 0.8, 0.95];

/// What some regions of the last level say of all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Noise {
    /// Cells that were looked at.
    pub cells: u64,
    /// The share of them in regions that are not uniform.
    pub leaves: f64,
    /// Tolerances under which half, four fifths and 95 % of those would be uniform, and the share of the cells that would still be in leaves.
    /// None where some of them are no numbers.
    pub tolerances: Vec<(f64, f64)>,
}

impl<const K: usize> BottomUp<'_, K> {
    /// Looks at regions of the last level all over the array, until there are enough of them or the time is over: what share of the cells is
    /// in leaves, and what tolerances would leave fewer. None if there was no time for one region.
    ///
    /// # Errors
    /// As [`tree`](Self::tree).
    pub fn noise(&self, time: Duration) -> Result<Option<Noise>, TreeError> {
        here!(fn(&BottomUp<'_, K>, Duration) -> Result<Option<Noise>, TreeError> = |this, time| this.noise_here(time))(
            self, time,
        )
    }

    fn noise_here(&self, time: Duration) -> Result<Option<Noise>, TreeError> {
        let (begun, plan, deepest) = (Instant::now(), self.along.plan(), self.along.deepest());
        let (codes, size) = (self.along.codes(deepest), plan.domain().size());
        let spans = self.criterion.spans(self.source.kind(), self.nodata);
        let (mut buffer, unheard) = (Cells::empty(self.source.kind()), Control::default());
        let mut all = 0u64;
        // Cells of each leaf, and the tolerance under which it would be uniform.
        let mut leaves: Vec<(f64, u64)> = Vec::new();
        let regions = codes.min(REGIONS);
        for number in 0..regions {
            if begun.elapsed() >= time {
                break;
            }
            let region = plan.region(deepest, scattered(number, regions, codes));
            if region.cells_wide() > BLOCK.into() {
                break;
            }
            let around = spans.around(&region, size);
            self.read(&around, &mut buffer, &unheard)?;
            let own = spans.span(&buffer, &around, &region);
            all += region.volume();
            if spans.region(own, spans.span(&buffer, &around, &around)).is_none() {
                leaves.push((spans.needed(own), region.volume()));
            }
        }
        Ok((all > 0).then(|| Noise::new(all, leaves)))
    }
}

/// The code of a region among as many as there are, so that the first few lie all over them.
fn scattered(number: u128, regions: u128, codes: u128) -> u64 {
    // Each number once: an odd factor is prime to the power of two that is drawn from, and a number beyond is drawn again.
    let power = regions.next_power_of_two();
    let mut place = number;
    loop {
        place = place * 0x9e37_79b1 % power;
        if place < regions {
            return (place * codes / regions) as u64;
        }
    }
}

impl Noise {
    fn new(all: u64, mut leaves: Vec<(f64, u64)>) -> Self {
        leaves.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let of_leaves: u64 = leaves.iter().map(|leaf| leaf.1).sum();
        let tolerance = |share: f64| {
            let mut seen = 0;
            let enough = |leaf: &&(f64, u64)| {
                seen += leaf.1;
                seen as f64 >= share * of_leaves as f64
            };
            let needed = leaves.iter().find(enough)?.0;
            let left: u64 = leaves.iter().filter(|leaf| leaf.0 > needed).map(|leaf| leaf.1).sum();
            needed.is_finite().then_some((needed, left as f64 / all as f64))
        };
        let mut tolerances: Vec<(f64, f64)> = SHARES.into_iter().filter_map(tolerance).collect();
        tolerances.dedup();
        Self { cells: all, leaves: of_leaves as f64 / all as f64, tolerances }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_come_once_each() {
        for (regions, codes) in [(1, 1), (5, 5), (4096, 4096), (7, 7000), (4096, 1 << 64)] {
            let mut found: Vec<u64> = (0..regions).map(|number| scattered(number, regions, codes)).collect();
            found.sort_unstable();
            found.dedup();
            assert_eq!(found.len() as u128, regions);
            assert!(u128::from(*found.last().unwrap()) < codes);
        }
    }
}
