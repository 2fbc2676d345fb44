//! Where work along a curve is cut into pieces, by weights.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Steps in which the weight of the heaviest piece is sought.
const STEPS: usize = 60;

/// Runs of regions along a curve, of nearly equal weight. A weight is what a region is expected to cost, in any unit.
///
/// The heaviest piece is as light as it can be: no other cut into as many runs has a lighter one.
///
/// ```
/// use orthant::backend::Partition;
///
/// // The last region costs as much as all others together.
/// let cut = Partition::by_weight(&[1.0, 1.0, 1.0, 1.0, 4.0], 2);
/// assert_eq!(cut.pieces().collect::<Vec<_>>(), [0..4, 4..5]);
/// assert_eq!(cut.weights(), [4.0, 4.0]);
/// // Two workers are done at the same time. A third finds nothing to do.
/// assert_eq!((cut.balance(2), cut.balance(3)), (1.0, 1.5));
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Partition {
    /// Where each piece ends.
    ends: Vec<u64>,
    weights: Vec<f64>,
}

impl Partition {
    /// So many runs of regions with these weights, or a run for each region where there are fewer. What is no weight, negative or not
    /// finite, counts as none.
    ///
    /// # Panics
    /// If `pieces` is 0 or there are no regions.
    pub fn by_weight(weights: &[f64], pieces: usize) -> Self {
        assert!(pieces > 0 && !weights.is_empty(), "work has a piece, and a piece has regions");
        let mut before = vec![0.0];
        for &weight in weights {
            let weight = if weight.is_finite() { weight.max(0.0) } else { 0.0 };
            before.push(before[before.len() - 1] + weight);
        }
        let all = before[weights.len()];
        let (mut low, mut high) = (all / pieces as f64, all);
        for _ in 0..STEPS {
            let middle = f64::midpoint(low, high);
            if runs(&before, middle).len() <= pieces { high = middle } else { low = middle }
        }
        let mut ends = runs(&before, high);
        halve(&before, &mut ends, pieces);
        let start = |i: usize| if i == 0 { 0 } else { ends[i - 1] };
        let weights = (0..ends.len()).map(|i| before[ends[i]] - before[start(i)]).collect();
        Self { ends: ends.into_iter().map(|end| end as u64).collect(), weights }
    }

    /// A piece for each weight, as [`balance`](Self::balance) asks of pieces that were measured.
    pub fn each(weights: Vec<f64>) -> Self {
        Self { ends: (1..=weights.len() as u64).collect(), weights }
    }

    /// The number of pieces, at least 1.
    #[allow(clippy::len_without_is_empty, reason = "there is always a piece")]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The regions of each piece, along the curve.
    pub fn pieces(&self) -> impl Iterator<Item = Range<u64>> + '_ {
        (0..self.len()).map(|piece| self.piece(piece))
    }

    /// The regions of a piece.
    ///
    /// # Panics
    /// If there are not so many pieces.
    pub fn piece(&self, piece: usize) -> Range<u64> {
        piece.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[piece]
    }

    /// The same pieces where each region stands for `each` of `all` smaller ones; the last may stand for fewer.
    #[must_use]
    pub fn refined(self, each: u64, all: u64) -> Self {
        Self { ends: self.ends.into_iter().map(|end| all.min(end * each)).collect(), ..self }
    }

    /// What each piece weighs.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The pieces in the order in which workers should take them: the heaviest first, so that the last ones are small.
    pub fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        order.sort_by(|&one, &two| self.weights[two].total_cmp(&self.weights[one]));
        order
    }

    /// How much longer than the mean the busiest of so many workers is busy, if each takes the heaviest piece that is left
    /// as soon as it has nothing to do. 1 is perfect; 1.05 wastes 5 % of the machine.
    ///
    /// # Panics
    /// If there are no workers.
    pub fn balance(&self, workers: usize) -> f64 {
        assert!(workers > 0, "work needs a worker");
        let all: f64 = self.weights.iter().sum();
        if all == 0.0 {
            return 1.0;
        }
        // Whole numbers have an order: a part in 2^40 of all is exact enough.
        let unit = all / (1u64 << 40) as f64;
        let mut busy: BinaryHeap<Reverse<u64>> = (0..workers).map(|_| Reverse(0)).collect();
        for piece in self.order() {
            let Reverse(least) = busy.pop().expect("there is a worker");
            busy.push(Reverse(least + (self.weights[piece] / unit).round() as u64));
        }
        let most = busy.into_iter().map(|Reverse(time)| time).max().expect("there is a worker");
        most as f64 * unit / (all / workers as f64)
    }
}

/// Where runs end that are as long as they can be and weigh at most so much, or are one region. `before` has the weight of all regions before
/// each.
fn runs(before: &[f64], most: f64) -> Vec<usize> {
    let (mut ends, mut start) = (Vec::new(), 0);
    while start + 1 < before.len() {
        let end = before.partition_point(|&sum| sum - before[start] <= most) - 1;
        start = end.max(start + 1);
        ends.push(start);
    }
    ends
}

/// Halves the heaviest run of several regions until there are so many runs. The heaviest of all becomes no heavier.
fn halve(before: &[f64], ends: &mut Vec<usize>, pieces: usize) {
    let key = |run: &Range<usize>| (before[run.end] - before[run.start]).to_bits();
    let starts = std::iter::once(0).chain(ends.iter().copied());
    let mut open: BinaryHeap<(u64, usize, usize)> = starts
        .zip(&*ends)
        .map(|(start, &end)| start..end)
        .filter(|run| run.len() > 1)
        .map(|run| (key(&run), run.start, run.end))
        .collect();
    while ends.len() < pieces {
        let Some((_, start, end)) = open.pop() else { break };
        let half = f64::midpoint(before[start], before[end]);
        let at = before.partition_point(|&sum| sum < half).clamp(start + 1, end - 1);
        ends.push(at);
        for run in [start..at, at..end] {
            if run.len() > 1 {
                open.push((key(&run), run.start, run.end));
            }
        }
    }
    ends.sort_unstable();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The heaviest piece of the best cut of all, found by trying every cut.
    fn least_heaviest(weights: &[f64], pieces: usize) -> f64 {
        let mut best = vec![0.0; weights.len() + 1];
        best.iter_mut().skip(1).for_each(|best| *best = f64::INFINITY);
        for _ in 0..pieces {
            let before = best.clone();
            for end in 1..=weights.len() {
                for start in 0..end {
                    best[end] = best[end].min(before[start].max(weights[start..end].iter().sum()));
                }
            }
        }
        best[weights.len()]
    }

    proptest! {
        #[test]
        fn pieces_cover_all_once_and_are_as_even_as_can_be(
            weights in proptest::collection::vec(0u32..50, 1..24), pieces in 1usize..12,
        ) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            let cut = Partition::by_weight(&weights, pieces);
            prop_assert_eq!(cut.len(), pieces.min(weights.len()));
            let mut next = 0;
            for (piece, &weight) in cut.pieces().zip(cut.weights()) {
                prop_assert_eq!(piece.start, next);
                prop_assert!(!piece.is_empty());
                prop_assert_eq!(weights[piece.start as usize..piece.end as usize].iter().sum::<f64>(), weight);
                next = piece.end;
            }
            prop_assert_eq!(next, weights.len() as u64);
            let heaviest = cut.weights().iter().copied().fold(0.0, f64::max);
            prop_assert_eq!(heaviest, least_heaviest(&weights, pieces));
        }

        #[test]
        fn balance_is_between_perfect_and_one_worker(
            weights in proptest::collection::vec(0.0f64..9.0, 1..40), pieces in 1usize..40, workers in 1usize..9,
        ) {
            let balance = Partition::by_weight(&weights, pieces).balance(workers);
            prop_assert!(balance > 0.999 && balance < workers as f64 + 0.001, "{}", balance);
        }
    }

    #[test]
    fn what_is_no_weight_counts_as_none() {
        let cut = Partition::by_weight(&[f64::NAN, 1.0, -3.0, 1.0, f64::INFINITY], 2);
        assert_eq!(cut.weights(), [1.0, 1.0]);
        assert_eq!(Partition::by_weight(&[0.0; 4], 3).len(), 3);
        assert_eq!(Partition::by_weight(&[0.0; 4], 3).balance(2), 1.0);
    }

    #[test]
    fn the_heaviest_comes_first() {
        let cut = Partition::by_weight(&[2.0, 5.0, 3.0], 3);
        assert_eq!(cut.order(), [1, 2, 0]);
        // 5, then 3 and 2.
        assert_eq!(cut.balance(2), 1.0);
    }
}
