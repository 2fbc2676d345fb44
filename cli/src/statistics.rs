//! What repeated measurements say: middle, spread, and whether two sets of them differ.
//!
//! Times are skewed and have outliers, so two sets are compared by medians and ranks, which assume no distribution.
//! Resampling uses a generator of its own with a given seed: the same samples always give the same answer.

/// The middle of some values; NaN if there are none.
pub(crate) fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        len => (sorted[len / 2] + sorted[(len - 1) / 2]) / 2.0,
    }
}

/// The median distance from the median; NaN if there are no values. Unscaled: it is 0.6745 standard deviations of a
/// normal distribution. Up to half of the values may be outliers.
pub(crate) fn median_absolute_deviation(values: &[f64]) -> f64 {
    let middle = median(values);
    median(&values.iter().map(|value| (value - middle).abs()).collect::<Vec<f64>>())
}

/// How far values lie from their median: half of them within the deviation, and those that stand apart.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spread {
    /// The median absolute deviation.
    pub(crate) deviation: f64,
    pub(crate) outliers: Vec<f64>,
}

/// Fewer values say nothing about their spread.
const FEWEST: usize = 5;

/// Three standard deviations of a normal distribution with this median absolute deviation.
const APART: f64 = 3.0 * 1.4826;

/// Clocks have steps, so many samples may be equal; what is nearer to the median than this share of it is no outlier.
const NEAR: f64 = 0.01;

/// The spread of some values; none of fewer than five.
pub(crate) fn spread(values: &[f64]) -> Option<Spread> {
    if values.len() < FEWEST {
        return None;
    }
    let (middle, deviation) = (median(values), median_absolute_deviation(values));
    let far = (APART * deviation).max(NEAR * middle.abs());
    let outliers = values.iter().copied().filter(|value| (value - middle).abs() > far).collect();
    Some(Spread { deviation, outliers })
}

/// The arithmetic mean; NaN if there are no values.
pub(crate) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The standard error of the mean; infinite for fewer than two values, which say nothing about their spread.
pub(crate) fn standard_error(values: &[f64]) -> f64 {
    if values.len() < 2 {
        return f64::INFINITY;
    }
    let (len, mean) = (values.len() as f64, mean(values));
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (len - 1.0);
    (variance / len).sqrt()
}

/// A sequence of numbers that depends on its seed alone (SplitMix64, Steele et al. 2014).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// As many values as there are, each drawn from all of them.
    fn resample(&mut self, values: &[f64]) -> Vec<f64> {
        // The high half of the product is uniform below the length, up to a bias of 2^-64 per value.
        let draw = |bits: u64| values[((u128::from(bits) * values.len() as u128) >> 64) as usize];
        values.iter().map(|_| draw(self.next())).collect()
    }
}

/// Draws behind an interval.
const RESAMPLES: usize = 2000;

/// The interval that holds median(b) / median(a) with the given confidence, by the percentile bootstrap; NaN if a set is
/// empty.
pub(crate) fn ratio_interval(a: &[f64], b: &[f64], confidence: f64, seed: u64) -> [f64; 2] {
    if a.is_empty() || b.is_empty() {
        return [f64::NAN; 2];
    }
    let mut numbers = Numbers(seed);
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            let below = median(&numbers.resample(a));
            median(&numbers.resample(b)) / below
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    let at = |share: f64| ratios[(share * (RESAMPLES - 1) as f64).round() as usize];
    [at((1.0 - confidence) / 2.0), at((1.0 + confidence) / 2.0)]
}

/// Sets with at most this many pairs are counted out, larger ones use the normal distribution.
const EXACT_PAIRS: usize = 1024;

/// The probability that two sets drawn from one distribution have ranks that differ as much as these: the two-sided
/// Mann-Whitney U test. Exact for small sets without ties, else normal with corrections for ties and continuity. 1 if a
/// set is empty.
pub(crate) fn mann_whitney(a: &[f64], b: &[f64]) -> f64 {
    let pairs = a.len() * b.len();
    if pairs == 0 {
        return 1.0;
    }
    let wins = |x: &f64| {
        b.iter()
            .map(|y| {
                if x > y {
                    1.0
                } else if x == y {
                    0.5
                } else {
                    0.0
                }
            })
            .sum::<f64>()
    };
    let u: f64 = a.iter().map(wins).sum();
    let least = u.min(pairs as f64 - u);
    let mut all: Vec<f64> = a.iter().chain(b).copied().collect();
    all.sort_by(f64::total_cmp);
    let ties: Vec<f64> = all.chunk_by(|x, y| x == y).map(|run| run.len() as f64).filter(|&run| run > 1.0).collect();
    if ties.is_empty() && pairs <= EXACT_PAIRS {
        return (2.0 * at_most(a.len(), b.len(), least as usize)).min(1.0);
    }
    let n = all.len() as f64;
    let tied = ties.iter().map(|t| t.powi(3) - t).sum::<f64>() / (n * (n - 1.0));
    let variance = pairs as f64 / 12.0 * (n + 1.0 - tied);
    if variance <= 0.0 {
        return 1.0; // every value is the same
    }
    let z = ((pairs as f64 / 2.0 - least - 0.5) / variance.sqrt()).max(0.0);
    erfc(z / std::f64::consts::SQRT_2).min(1.0)
}

/// The least p that [`mann_whitney`] gives for `m` and `n` values: that all of one set lie on one side of the other.
pub(crate) fn least_p(m: usize, n: usize) -> f64 {
    let orders = (1..=m).map(|i| i as f64 / (n + i) as f64).product::<f64>();
    (2.0 * orders).min(1.0)
}

/// The share of the orders of `m` and `n` values in which U is at most `u`.
fn at_most(m: usize, n: usize, u: usize) -> f64 {
    // The orders with a given U are the partitions of U into at most m parts of at most n: the coefficients of the
    // Gaussian binomial, the product of (1 - q^(n+i)) / (1 - q^i) over i = 1..m.
    let mut orders = vec![0.0; m * n + 1];
    orders[0] = 1.0;
    for i in 1..=m {
        for at in (n + i..orders.len()).rev() {
            orders[at] -= orders[at - n - i];
        }
        for at in i..orders.len() {
            orders[at] += orders[at - i];
        }
    }
    orders[..=u].iter().sum::<f64>() / orders.iter().sum::<f64>()
}

/// The complementary error function for x >= 0, to 1.2e-7 (Numerical Recipes, a Chebyshev fit).
fn erfc(x: f64) -> f64 {
    const FIT: [f64; 10] = [
        -1.26551223,
        1.00002368,
        0.37409196,
        0.09678418,
        -0.18628806,
        0.27886807,
        -1.13520398,
        1.48851587,
        -0.82215223,
        0.17087277,
    ];
    let t = 1.0 / (1.0 + 0.5 * x);
    t * (-x * x + FIT.iter().rev().fold(0.0, |sum, c| sum * t + c)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn middles_spreads_and_errors() {
        assert_eq!(median(&[3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
        // Distances from 2: 1, 1, 0, 0, 2, 4, 7.
        assert_eq!(median_absolute_deviation(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), 1.0);
        assert_eq!(median_absolute_deviation(&[3.0]), 0.0);
        assert!(median_absolute_deviation(&[]).is_nan());
        assert_eq!(standard_error(&[1.0]), f64::INFINITY);
        // Variance 2.5, over 5 values.
        assert!((standard_error(&[1.0, 2.0, 3.0, 4.0, 5.0]) - 0.5f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn outliers_stand_apart_and_do_not_widen_the_spread() {
        assert_eq!(spread(&[1.0, 2.0, 3.0, 90.0]), None);
        let found = spread(&[10.0, 11.0, 12.0, 13.0, 14.0, 90.0, 1.0]).unwrap();
        assert_eq!(found, Spread { deviation: 2.0, outliers: vec![90.0, 1.0] });
        // Most values are equal, the others are a step of the clock away, or are not.
        let steps = spread(&[100.0, 100.0, 100.0, 100.5, 102.0]).unwrap();
        assert_eq!(steps, Spread { deviation: 0.0, outliers: vec![102.0] });
    }

    #[test]
    fn ranks_as_in_tables() {
        let (low, high) = ([1.0, 2.0, 3.0, 4.0, 5.0], [6.0, 7.0, 8.0, 9.0, 10.0]);
        // Of the 252 orders one has U = 0 on either side.
        assert!((mann_whitney(&low, &high) - 2.0 / 252.0).abs() < 1e-12);
        assert!((least_p(5, 5) - 2.0 / 252.0).abs() < 1e-12 && (least_p(1, 3) - 0.5).abs() < 1e-12);
        assert_eq!(mann_whitney(&low, &high), mann_whitney(&high, &low));
        // U = 3 of 3 x 4, from a table of the exact distribution: P(U <= 3) = 7/35.
        assert!((mann_whitney(&[1.0, 3.0, 5.0], &[2.0, 4.0, 6.0, 7.0]) - 14.0 / 35.0).abs() < 1e-12);
        assert_eq!(mann_whitney(&[1.0; 4], &[1.0; 9]), 1.0);
        assert_eq!(mann_whitney(&[], &[1.0]), 1.0);
        let many: Vec<f64> = (0..60).map(f64::from).collect();
        let later: Vec<f64> = many.iter().map(|x| x + 30.5).collect();
        assert!(mann_whitney(&many, &many) > 0.99 && mann_whitney(&many, &later) < 1e-6);
    }

    #[test]
    fn the_normal_tail_meets_the_exact_one() {
        // 1.96 standard deviations: 5 % of the normal distribution.
        assert!((erfc(1.959964 / std::f64::consts::SQRT_2) - 0.05).abs() < 1e-6);
        let (a, b): (Vec<f64>, Vec<f64>) =
            ((0..32).map(f64::from).collect(), (0..32).map(|x| f64::from(x) + 6.5).collect());
        let exact = mann_whitney(&a, &b);
        let tied: Vec<f64> = b.iter().map(|x| x - 0.5).collect();
        assert!((exact - mann_whitney(&a, &tied)).abs() < 0.03, "{exact}");
    }

    #[test]
    fn intervals_hold_the_ratio_and_repeat() {
        let a: Vec<f64> = (0..20).map(|i| 100.0 + f64::from(i % 5)).collect();
        let b: Vec<f64> = a.iter().map(|x| 1.5 * x).collect();
        let [low, high] = ratio_interval(&a, &b, 0.95, 7);
        assert!(low < 1.5 && 1.5 < high && high - low < 0.1, "{low} {high}");
        assert_eq!(ratio_interval(&a, &b, 0.95, 7), [low, high]);
        assert!(ratio_interval(&[], &b, 0.95, 7)[0].is_nan());
    }
}
