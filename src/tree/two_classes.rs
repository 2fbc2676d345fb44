//! Where values part into two classes, and what a threshold there would leave in leaves.

/// Values of a region that are taken, about.
const VALUES: usize = 64;

/// Some values of regions, and the least and the greatest of each.
#[derive(Debug, Default)]
pub(super) struct TwoClasses {
    values: Vec<f64>,
    /// Least, greatest, cells.
    regions: Vec<(f64, f64, u64)>,
}

impl TwoClasses {
    /// Takes note of a region by the values of its cells, in any order. Of a region with a NaN nothing is known.
    pub(super) fn region(&mut self, values: &[f64]) {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return;
        }
        self.values.extend(values.iter().step_by(values.len().div_ceil(VALUES)));
        let (least, greatest) = values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), &value| {
            (least.min(value), greatest.max(value))
        });
        self.regions.push((least, greatest, values.len() as u64));
    }

    /// The middle between two classes, and the share of cells in regions that have cells of both; None if all values are equal.
    ///
    /// The classes are those of Otsu (*A threshold selection method from gray-level histograms*, 1979): no other cut has a larger variance
    /// between the means.
    pub(super) fn threshold(mut self) -> Option<(f64, f64)> {
        self.values.sort_unstable_by(f64::total_cmp);
        let (all, sum) = (self.values.len() as f64, self.values.iter().sum::<f64>());
        let (mut below, mut best) = (0.0, None);
        for (i, pair) in self.values.windows(2).enumerate() {
            below += pair[0];
            if pair[0] == pair[1] {
                continue;
            }
            let count = (i + 1) as f64;
            let between = count * (all - count) * (below / count - (sum - below) / (all - count)).powi(2);
            if best.is_none_or(|(most, _)| between > most) {
                best = Some((between, f64::midpoint(pair[0], pair[1])));
            }
        }
        let (_, threshold) = best?;
        let cells = |regions: &mut dyn Iterator<Item = &(f64, f64, u64)>| regions.map(|region| region.2).sum::<u64>();
        let both =
            cells(&mut self.regions.iter().filter(|&&(least, greatest, _)| least < threshold && threshold <= greatest));
        Some((threshold, both as f64 / cells(&mut self.regions.iter()) as f64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_heaps_part_between_them() {
        let mut classes = TwoClasses::default();
        // Around 10, around 200, and one region with both.
        classes.region(&[9.0, 10.0, 11.0, 10.0]);
        classes.region(&[199.0, 200.0, 205.0, 201.0]);
        classes.region(&[10.0, 12.0, 200.0, 198.0]);
        classes.region(&[f64::NAN, 100.0]);
        assert_eq!(classes.threshold(), Some((105.0, 1.0 / 3.0)));
        let mut one = TwoClasses::default();
        one.region(&[3.0; 9]);
        assert_eq!(one.threshold(), None);
        assert_eq!(TwoClasses::default().threshold(), None);
    }

    /// The cut has the largest variance between classes of all cuts, by another formula.
    #[test]
    fn no_other_cut_is_better() {
        let values: Vec<f64> = (0..40).map(|i| f64::from(i * i % 37)).collect();
        let mut classes = TwoClasses::default();
        classes.region(&values);
        let within = |t: f64| {
            let (low, high): (Vec<f64>, Vec<f64>) = values.iter().partition(|&&value| value < t);
            let spread = |some: &[f64]| {
                let mean = some.iter().sum::<f64>() / some.len().max(1) as f64;
                some.iter().map(|value| (value - mean).powi(2)).sum::<f64>()
            };
            spread(&low) + spread(&high)
        };
        let (found, _) = classes.threshold().unwrap();
        assert!((1..37).all(|t| within(found) <= within(f64::from(t)) + 1e-9));
    }
}
