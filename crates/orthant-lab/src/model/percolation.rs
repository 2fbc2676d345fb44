//! Fractal percolation: a field of exactly the self-similar density, made of hashes, reproducible to the bit.
//!
//! A region divides iff its key is below P·2^64. The key folds seed, level and coordinates through splitmix64, so that
//! every language and every device draws the same regions. Only a region predicate can see it: there is no border.

use super::ModelError;
use super::fields::FieldCounts;

/// A percolation: P = `numerator / denominator` of the regions divide.
///
/// ```
/// use orthant_lab::model::percolation::Percolation;
///
/// // Every region divides with P = 1, none with P = 0.
/// let [all, none] = [Percolation::new(2, 1, 1, 7)?, Percolation::new(2, 0, 1, 7)?];
/// assert_eq!(all.counts(2, 2, 3)?.active, [4, 16, 64]);
/// assert_eq!(none.counts(2, 2, 3)?.active[0], 0);
/// # Ok::<(), orthant_lab::model::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Percolation {
    k: usize,
    numerator: u64,
    denominator: u64,
    seed: u64,
}

/// The largest number of regions that are walked on one level.
const MOST_REGIONS: u128 = 1 << 24;

impl Percolation {
    /// A percolation of density `numerator / denominator` in k dimensions.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if k is not 1 to 8 or the density not in 0..=1.
    pub fn new(k: usize, numerator: u64, denominator: u64, seed: u64) -> Result<Self, ModelError> {
        if !(1..=orthant::MAX_DIM).contains(&k) {
            return Err(ModelError::parameter("k", k, "between 1 and 8"));
        }
        if denominator == 0 {
            return Err(ModelError::parameter("p_den", denominator, "at least 1"));
        }
        if numerator > denominator {
            return Err(ModelError::parameter("p_num", numerator, "at most p_den"));
        }
        Ok(Self { k, numerator, denominator, seed })
    }

    /// True if the region with these coordinates on `level` divides: key·p_den < p_num·2^64.
    pub fn divides(&self, level: u64, region: &[u64]) -> bool {
        let start = splitmix64(splitmix64(self.seed) ^ level);
        let key = region.iter().fold(start, |hash, &u| splitmix64(hash ^ u));
        u128::from(key) * u128::from(self.denominator) < u128::from(self.numerator) << 64
    }

    /// N_i and a_i of `tau` levels, the last drawn like the others; the children of u are r·u + d.
    ///
    /// # Errors
    /// [`ModelError::Parameter`] if g is 0 or r below 2, [`ModelError::TooLarge`] above 2^24 regions on a level.
    pub fn counts(&self, g: u64, r: u64, tau: u64) -> Result<FieldCounts, ModelError> {
        if g == 0 {
            return Err(ModelError::parameter("g", g, "at least 1"));
        }
        if r < 2 {
            return Err(ModelError::parameter("r", r, "at least 2"));
        }
        let mut counts = FieldCounts { regions: Vec::new(), active: Vec::new() };
        let mut parents = vec![0; self.k];
        let mut split = g;
        for level in 0..tau {
            let children = u128::from(split).checked_pow(self.k as u32).filter(|&children| children <= MOST_REGIONS);
            let regions = children.map(|children| children * (parents.len() / self.k) as u128);
            let Some(regions) = regions.filter(|&regions| regions <= MOST_REGIONS) else {
                return Err(ModelError::TooLarge {
                    what: "the percolation",
                    allowed: "at most 2^24 regions on a level",
                });
            };
            let mut mixed = Vec::new();
            let mut region = vec![0; self.k];
            for parent in parents.chunks_exact(self.k) {
                for child in 0..split.pow(self.k as u32) {
                    let mut rest = child;
                    for (coordinate, above) in region.iter_mut().zip(parent) {
                        *coordinate = above * split + rest % split;
                        rest /= split;
                    }
                    if self.divides(level, &region) {
                        mixed.extend_from_slice(&region);
                    }
                }
            }
            counts.regions.push(regions);
            counts.active.push((mixed.len() / self.k) as u128);
            parents = mixed;
            split = r;
        }
        Ok(counts)
    }
}

/// The finaliser of splitmix64: `splitmix64(0)` = e220a8397b1dcdaf.
fn splitmix64(x: u64) -> u64 {
    let z = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// E N_i = G·(RP)^i and Var N_i = G·R²·P(1−P)·(RP)^{i−1}·((RP)^i − 1)/(RP − 1).
///
/// # Errors
/// [`ModelError::Parameter`] if P is not in 0..=1.
pub fn moments(initial: f64, children: f64, p: f64, level: i32) -> Result<[f64; 2], ModelError> {
    if !(0.0..=1.0).contains(&p) {
        return Err(ModelError::parameter("P", p, "a probability between 0 and 1"));
    }
    let growth = children * p;
    let mean = initial * growth.powi(level);
    if level <= 0 {
        return Ok([mean, 0.0]);
    }
    // The quotient is 1 + RP + .. + (RP)^{i−1}, which has a value at RP = 1 too.
    let sum: f64 = (0..level).map(|i| growth.powi(i)).sum();
    Ok([mean, initial * children * children * p * (1.0 - p) * growth.powi(level - 1) * sum])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_splitmix64() {
        assert_eq!([splitmix64(0), splitmix64(1)], [0xe220_a839_7b1d_cdaf, 0x910a_2dec_8902_5cc1]);
    }

    #[test]
    fn all_or_nothing() {
        let counts = |p| Percolation::new(3, p, 1, 7).unwrap().counts(2, 2, 3).unwrap();
        assert_eq!(counts(1).active, [8, 64, 512]);
        assert_eq!((counts(0).active, counts(0).regions), (vec![0; 3], vec![8, 0, 0]));
    }

    #[test]
    fn seeds_scatter_as_the_moments_say() {
        let (p, level, seeds) = (0.6, 3, 400);
        let of = |seed| Percolation::new(2, 3, 5, seed).unwrap().counts(4, 2, level + 1).unwrap();
        let counts: Vec<f64> = (0..seeds).map(|seed| of(seed).regions[level as usize] as f64).collect();
        let mean = counts.iter().sum::<f64>() / seeds as f64;
        let variance = counts.iter().map(|n| (n - mean).powi(2)).sum::<f64>() / (seeds - 1) as f64;
        let [expected, spread] = moments(16.0, 4.0, p, level as i32).unwrap();
        assert!((mean - expected).abs() < 4.0 * (spread / seeds as f64).sqrt(), "{mean} {expected}");
        assert!((variance / spread - 1.0).abs() < 0.3, "{variance} {spread}");
    }

    #[test]
    fn limits() {
        assert!(Percolation::new(2, 8, 7, 0).is_err() && Percolation::new(2, 0, 0, 0).is_err());
        assert!(matches!(Percolation::new(8, 1, 1, 0).unwrap().counts(16, 2, 1), Err(ModelError::TooLarge { .. })));
        assert_eq!(moments(16.0, 4.0, 0.25, 5).unwrap(), [16.0, 16.0 * 16.0 * 0.25 * 0.75 * 5.0]);
    }
}
