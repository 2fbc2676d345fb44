//! How long pieces take, learnt from pieces that were made.

use crate::backend::partition::Partition;

/// What a piece takes: so many seconds whatever it weighs (it is claimed, launched, named), and more for what it weighs.
///
/// ```
/// use orthant::backend::PieceCost;
///
/// // Three pieces that were made, by weight.
/// let cost = PieceCost::fit(&[1.0, 2.0, 4.0], &[0.5, 0.6, 0.8]).ok_or("weights differ")?;
/// assert!((cost.floor - 0.4).abs() < 1e-12 && (cost.each - 0.1).abs() < 1e-12);
/// assert!((cost.seconds(3.0) - 0.7).abs() < 1e-12);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PieceCost {
    /// Seconds of any piece, not negative.
    pub floor: f64,
    /// Seconds for each unit of weight, not negative.
    pub each: f64,
}

impl PieceCost {
    /// The least squares of what pieces of these weights took. None if nothing can be told: there are fewer than two weights that differ,
    /// or none took time.
    ///
    /// # Panics
    /// If there are not as many weights as times.
    pub fn fit(weights: &[f64], seconds: &[f64]) -> Option<Self> {
        assert_eq!(weights.len(), seconds.len(), "a time for each weight");
        let mean = |values: &mut dyn Iterator<Item = f64>| values.sum::<f64>() / weights.len() as f64;
        let (weight, second) = (mean(&mut weights.iter().copied()), mean(&mut seconds.iter().copied()));
        let both = || weights.iter().zip(seconds);
        let spread = mean(&mut weights.iter().map(|w| (w - weight).powi(2)));
        let shared = mean(&mut both().map(|(w, s)| (w - weight) * (s - second)));
        if spread.is_nan() || spread <= (weight * 1e-9).powi(2) || second <= 0.0 {
            return None;
        }
        let each = shared / spread;
        let floor = second - each * weight;
        // A line that falls, or begins below zero, says that one of the two is nothing.
        Some(match (each >= 0.0, floor >= 0.0) {
            (true, true) => Self { floor, each },
            (false, _) => Self { floor: second, each: 0.0 },
            (_, false) => Self { floor: 0.0, each: second / weight },
        })
    }

    /// Seconds of a piece of that weight.
    pub fn seconds(&self, weight: f64) -> f64 {
        self.floor + self.each * weight
    }

    /// Seconds until so many workers have made all pieces of a cut.
    ///
    /// # Panics
    /// If there are no workers.
    pub fn of(&self, cut: &Partition, workers: usize) -> f64 {
        let seconds: Vec<f64> = cut.weights().iter().map(|&weight| self.seconds(weight)).collect();
        let all: f64 = seconds.iter().sum();
        Partition::each(seconds).balance(workers) * all / workers as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_told_is_not() {
        assert_eq!(PieceCost::fit(&[], &[]), None);
        assert_eq!(PieceCost::fit(&[2.0], &[1.0]), None);
        assert_eq!(PieceCost::fit(&[2.0, 2.0], &[1.0, 3.0]), None);
        assert_eq!(PieceCost::fit(&[1.0, 2.0], &[0.0, 0.0]), None);
    }

    /// Neither number is negative.
    #[test]
    fn lines_that_cannot_be_are_cut() {
        assert_eq!(PieceCost::fit(&[1.0, 2.0], &[3.0, 1.0]), Some(PieceCost { floor: 2.0, each: 0.0 }));
        assert_eq!(PieceCost::fit(&[1.0, 3.0], &[1.0, 5.0]), Some(PieceCost { floor: 0.0, each: 1.5 }));
    }

    /// More pieces are more floors: two workers make four pieces in two rounds.
    #[test]
    fn floors_add_up() {
        let cost = PieceCost { floor: 1.0, each: 0.5 };
        assert_eq!(cost.of(&Partition::each(vec![2.0; 4]), 2), 4.0);
        assert_eq!(cost.of(&Partition::each(vec![4.0; 2]), 2), 3.0);
    }
}
